"""``tdbg sql``: a trace and a query in, rows out as a table, CSV or JSON."""

from __future__ import annotations

import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from tdbg.commands import BaseCommand
from tdbg.commands.printing import aligned, to_json
from tdbg.commands.trace_argument import open_trace
from tdbg.errors import TdbgCommandError

if TYPE_CHECKING:
    import duckdb

_DEFAULT_LIMIT = 50
_CHUNK = 10_000
_MAY_ASK_FOR_ALERTS = re.compile(r"alerts|show|_schema|duckdb_", re.IGNORECASE)  # they take a while to work out


class Command(BaseCommand):
    """Ask a trace with SQL (DuckDB's), as in: tdbg sql "SELECT name, type FROM ops".

    Tables: tensors, executions, ends, runs, profile, steps, functions, signatures, controls, ops, graphs, shapes,
    stacks, frames, sources, values, notes, and alerts, which is worked out. DESCRIBE tensors lists a table's columns.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        parser.usage = 'tdbg sql [options] [TRACE] "SELECT …"'
        parser.add_argument("words", nargs="*", metavar="TRACE QUERY", help="without TRACE: the newest one here")
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="rows as a JSON list of objects")
        form.add_argument("--csv", action="store_true", help="rows as CSV, NULL as an empty field")
        text = f"show at most N rows (default: {_DEFAULT_LIMIT} in a table, all as CSV or JSON; 0 is all)"
        parser.add_argument("--limit", metavar="N", type=int, help=text)

    def run(self, args: Namespace) -> int:
        trace, query = _trace_and_query(args.words)
        limit = args.limit if args.limit is not None else 0 if args.json or args.csv else _DEFAULT_LIMIT
        if limit < 0:
            raise TdbgCommandError(f"--limit {limit}: give a number of rows, or 0 for all")
        connection = open_trace(trace).connect(alerts=bool(_MAY_ASK_FOR_ALERTS.search(query)))
        names, rows = _ask(connection, query, limit)
        if args.json:
            _print_json(names, rows)
        elif args.csv:
            _print_csv(names, rows)
        else:
            _print_table(connection, query, names, list(rows), limit)
        return 0


def _trace_and_query(words: list[str]) -> tuple[str | None, str]:
    if len(words) == 1 and any(letter.isspace() for letter in words[0].strip()):
        return None, words[0]
    if len(words) == 2:
        return words[0], words[1]
    raise TdbgCommandError('write the query as one word, in quotes: tdbg sql [TRACE] "SELECT * FROM steps"')


def _ask(connection: duckdb.DuckDBPyConnection, query: str, limit: int) -> tuple[list[str], Iterator[tuple]]:
    import duckdb

    from tdbg.store.sql import check_is_query

    try:
        check_is_query(connection, query)
        connection.execute(query)
    except duckdb.Error as error:
        raise TdbgCommandError(_sentence(str(error))) from error
    if connection.description is None:
        raise TdbgCommandError('there is no query in this; write one such as "SELECT * FROM steps"')
    return [column[0] for column in connection.description], _fetch(connection, limit)


def _fetch(connection: duckdb.DuckDBPyConnection, limit: int) -> Iterator[tuple]:
    wanted = limit or sys.maxsize
    while wanted > 0 and (rows := connection.fetchmany(min(wanted, _CHUNK))):
        wanted -= len(rows)
        yield from rows


def _print_table(connection: Any, query: str, names: list[str], rows: list[tuple], limit: int) -> None:
    is_cut = len(rows) == limit and connection.fetchone() is not None
    print("\n".join(aligned(names, rows)))
    if is_cut:
        print(f"… {_how_many_more(connection, query, limit)} (--limit 0 shows all)")
    elif not rows:
        print("(no rows)")


def _how_many_more(connection: Any, query: str, shown: int) -> str:
    """Cheaper asked than fetched, but not every text can be made a subquery (several statements, comments)."""
    import duckdb

    try:
        connection.execute(f"SELECT count(*) FROM ({query.strip().rstrip(';')}\n)")
        more = connection.fetchone()[0] - shown
    except duckdb.Error:
        connection.execute(query)
        more = sum(1 for _ in _fetch(connection, 0)) - shown
    return f"{more:,} more row{'s' if more != 1 else ''}"


def _print_json(names: list[str], rows: Iterator[tuple]) -> None:
    opening = "["
    for row in rows:
        print(opening + to_json(dict(zip(names, row, strict=True))), end="")
        opening = ",\n "
    print("]" if opening != "[" else "[]")


def _print_csv(names: list[str], rows: Iterator[tuple]) -> None:
    import csv

    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(names)
    for row in rows:
        table.writerow(row)


def _sentence(message: str) -> str:
    """DuckDB's message on one line, with the tables or columns that were probably meant."""
    from tdbg.store.format import SCHEMAS

    lines = [line.strip() for line in message.split("\n\nLINE ")[0].splitlines() if line.strip()]
    text = re.sub(r"^\w+ Error: ", "", " ".join(lines)).rstrip("!. ")
    missing = re.search(r'(Table with name (\S+)|[Cc]olumn(?: named)? "([^"]+)")', text)
    if missing is None:
        return f"this query does not work: {text}"
    if missing[2]:
        return f"there is no table {missing[2]!r}{_suggestion(missing[2], list(SCHEMAS))}"
    if "GROUP BY" in text:
        return f"this query does not work: {text}"
    places = {column: table for table, schema in reversed(SCHEMAS.items()) for column in schema.names}
    close = _close(missing[3], list(places))
    named = ", ".join(f"{column} (in {places[column]})" for column in close)
    hint = f"; close to it: {named}" if named else "; DESCRIBE tensors lists a table's columns"
    return f"there is no column {missing[3]!r} in what is asked{hint}"


def _suggestion(name: str, known: list[str]) -> str:
    close = _close(name, known)
    return f"; did you mean {' or '.join(close)}?" if close else f"; the tables are: {', '.join(known)}"


def _close(name: str, known: list[str]) -> list[str]:
    import difflib

    return difflib.get_close_matches(name.lower(), known, 3, 0.6)
