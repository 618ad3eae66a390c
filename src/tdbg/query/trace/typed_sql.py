"""Runs a query that a person typed, or tells in one sentence what is wrong with it."""

from __future__ import annotations

import difflib
import re
import sys
from collections.abc import Iterator

import duckdb

from tdbg.errors import TdbgCommandError
from tdbg.query.trace.trace import Trace
from tdbg.store.format import SCHEMAS
from tdbg.store.sql import check_is_query

_CHUNK = 10_000
_MAY_ASK_FOR_ALERTS = re.compile(r"alerts|show|_schema|duckdb_", re.IGNORECASE)  # they take a while to work out


def ask(trace: Trace, query: str, limit: int) -> tuple[duckdb.DuckDBPyConnection, list[str], Iterator[tuple]]:
    """Gives the connection, the names of the columns, and the rows, at most ``limit`` of them (0: all)."""
    connection = trace.connect(alerts=bool(_MAY_ASK_FOR_ALERTS.search(query)))
    try:
        check_is_query(connection, query)
        connection.execute(query)
    except duckdb.Error as error:
        raise TdbgCommandError(_sentence(str(error))) from error
    if connection.description is None:
        raise TdbgCommandError('there is no query here; write one such as "SELECT * FROM steps"')
    return connection, [column[0] for column in connection.description], fetch(connection, limit)


def fetch(connection: duckdb.DuckDBPyConnection, limit: int) -> Iterator[tuple]:
    wanted = limit or sys.maxsize
    while wanted > 0 and (rows := connection.fetchmany(min(wanted, _CHUNK))):
        wanted -= len(rows)
        yield from rows


def _sentence(message: str) -> str:
    """Says DuckDB's message on one line, with the tables or columns that were probably meant."""
    lines = [line.strip() for line in message.split("\n\nLINE ")[0].splitlines() if line.strip()]
    text = re.sub(r"^\w+ Error: ", "", " ".join(lines)).rstrip("!. ")
    missing = re.search(r'(Table with name (\S+)|[Cc]olumn(?: named)? "([^"]+)")', text)
    if missing is None:
        return f"this query failed: {text}"
    if missing[2]:
        return f"there is no table {missing[2]!r}{_suggestion(missing[2], list(SCHEMAS))}"
    if "GROUP BY" in text:
        return f"this query failed: {text}"
    places = {column: table for table, schema in reversed(SCHEMAS.items()) for column in schema.names}
    close = _close(missing[3], list(places))
    named = ", ".join(f"{column} (in {places[column]})" for column in close)
    hint = f"; close to it: {named}" if named else "; DESCRIBE tensors lists a table's columns"
    return f"there is no column {missing[3]!r} in the tables of this query{hint}"


def _suggestion(name: str, known: list[str]) -> str:
    close = _close(name, known)
    return f"; did you mean {' or '.join(close)}?" if close else f"; the tables are: {', '.join(known)}"


def _close(name: str, known: list[str]) -> list[str]:
    return difflib.get_close_matches(name.lower(), known, 3, 0.6)
