"""``sql`` asks the trace a query and shows the rows that come of it."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.command import Completion
from tdbg.shell.result import Cell, Column, Result, Table, text
from tdbg.store.format import SCHEMAS

_DEFAULT_LIMIT = 1000
_LIMIT = re.compile(r"--limit[\s=]+(\d+)\s*")


class Command(command.Command):
    """Queries the trace with SQL (DuckDB dialect).

    Tables: tensors, executions, ends, runs, profile, steps, functions, signatures, controls, ops, graphs, shapes,
    stacks, frames, sources, values, notes, and alerts, which is computed. sql DESCRIBE tensors lists a table's
    columns. Queries cover the whole trace.
    """

    name = "sql"
    is_raw = True
    examples = (
        ("sql SELECT name, type FROM ops LIMIT 5", "no quotes needed"),
        ("sql SELECT step, count(*) FROM tensors WHERE nan > 0 GROUP BY step", "tensors with NaN by step"),
        ("sql DESCRIBE tensors", "the columns of a table"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("query", metavar="QUERY", help="SELECT …, DESCRIBE … or SHOW …")
        parser.add_argument(
            "--limit", type=int, metavar="N", default=_DEFAULT_LIMIT, help="show at most N rows; 0 means all"
        )

    def parse(self, words: Sequence[str]) -> Namespace:
        query = " ".join(words).strip()
        limit = _LIMIT.match(query)
        query = query[limit.end() :] if limit else query
        quote = query[:1]
        if quote in ("'", '"') and len(query) > 1 and query.endswith(quote) and query.count(quote) == 2:
            query = query[1:-1]
        if not query.strip():
            raise TdbgError("sql what? write a query such as sql SELECT * FROM steps")
        return Namespace(query=query, limit=int(limit[1]) if limit else _DEFAULT_LIMIT)

    def complete(self, shell: command.Context, words: Sequence[str], word: str) -> Sequence[Completion]:
        columns = {column: table for table, schema in SCHEMAS.items() for column in schema.names}
        offers = [Completion(name, "table") for name in (*SCHEMAS, "alerts")]
        offers += [Completion(name, f"column of {table}") for name, table in columns.items()]
        return [offer for offer in offers if word and offer.text.startswith(word)]

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.query.trace.typed_sql import ask

        connection, names, found = ask(shell.scene.trace(), args.query, args.limit)
        rows = [[_cell(value) for value in row] for row in found]
        if not rows:
            return Result([text("(no rows)", data=[])])
        table = Table([Column(name, name) for name in names], rows)
        if len(rows) == args.limit and connection.fetchone() is not None:
            more = text(f"… and more than these {args.limit:,} rows; sql --limit 0 … shows all")
            return Result([table, more])
        return Result([table])


def _cell(value: Any) -> Cell:
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, str):
        return value.replace("\n", "\\n").replace("\t", "\\t")
    return value if value is None or isinstance(value, int | float) else str(value)
