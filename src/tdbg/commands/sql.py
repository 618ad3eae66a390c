"""``tdbg sql`` asks a trace a query and prints the rows as a table, CSV or JSON."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import Any

from tdbg.commands import BaseCommand
from tdbg.commands.printing import aligned
from tdbg.commands.trace_argument import open_trace
from tdbg.errors import TdbgCommandError
from tdbg.strict_json import to_json

_DEFAULT_LIMIT = 50


class Command(BaseCommand):
    """Query a trace with SQL (DuckDB dialect), as in: tdbg sql "SELECT name, type FROM ops".

    Tables: tensors, executions, ends, runs, profile, steps, functions, signatures, controls, ops, graphs, shapes,
    stacks, frames, sources, values, notes, and alerts, which is computed. DESCRIBE tensors lists a table's columns.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        parser.usage = 'tdbg sql [options] [TRACE] "SELECT …"'
        parser.add_argument(
            "words", nargs="*", metavar="TRACE QUERY", help="without TRACE: the newest trace in this folder"
        )
        form = parser.add_mutually_exclusive_group()
        form.add_argument("--json", action="store_true", help="print the rows as a JSON list of objects")
        form.add_argument("--csv", action="store_true", help="print the rows as CSV, with NULL as an empty field")
        text = f"show at most N rows (default: {_DEFAULT_LIMIT} in a table, all as CSV or JSON; 0 is all)"
        parser.add_argument("--limit", metavar="N", type=int, help=text)

    def run(self, args: Namespace) -> int:
        from tdbg.query.trace.typed_sql import ask

        trace, query = _trace_and_query(args.words)
        limit = args.limit if args.limit is not None else 0 if args.json or args.csv else _DEFAULT_LIMIT
        if limit < 0:
            raise TdbgCommandError(f"--limit {limit}: give a number of rows, or 0 for all")
        connection, names, rows = ask(open_trace(trace), query, limit)
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
    raise TdbgCommandError('put the query in quotes: tdbg sql [TRACE] "SELECT * FROM steps"')


def _print_table(connection: Any, query: str, names: list[str], rows: list[tuple], limit: int) -> None:
    is_cut = len(rows) == limit and connection.fetchone() is not None
    print("\n".join(aligned(names, rows)))
    if is_cut:
        print(f"… {_how_many_more(connection, query, limit)} (--limit 0 shows all)")
    elif not rows:
        print("(no rows)")


def _how_many_more(connection: Any, query: str, shown: int) -> str:
    """Counts the rows that are not shown. To ask is cheaper than to fetch, but not every text can be made a subquery
    (several statements, comments)."""
    import duckdb

    from tdbg.query.trace.typed_sql import fetch

    try:
        connection.execute(f"SELECT count(*) FROM ({query.strip().rstrip(';')}\n)")
        more = connection.fetchone()[0] - shown
    except duckdb.Error:
        connection.execute(query)
        more = sum(1 for _ in fetch(connection, 0)) - shown
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
