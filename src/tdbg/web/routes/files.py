"""Answers with what can be saved or compared: tables as CSV or Parquet, the report, where two runs part."""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Iterator
from itertools import chain
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from tdbg import expressions
from tdbg.query.compare.diff import compare
from tdbg.query.compare.text import lines as diff_lines
from tdbg.query.trace.trace import Trace
from tdbg.report.page import build
from tdbg.store.format import SCHEMAS
from tdbg.store.sql import record_batches
from tdbg.web.route import PROCESS, Answer, Asked, Parameter, Refused, Route
from tdbg.web.routes.tensors import WHERE, ops_of_line
from tdbg.web.rows_and_stacks import NUMBERS_OF_TENSOR
from tdbg.web.schema import PLACE, listing, maybe, named, number, one_of, record, text, truth, whole

_CHUNK = 20_000
_PIECE = 1 << 18
_WIDE = 10_000
TABLES = (*SCHEMAS, "alerts")
# The report has its own styles inside, and nothing that runs.
_REPORT_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox"


def export(asked: Asked) -> Answer:
    table, _, ending = asked["file"].rpartition(".")
    if table not in TABLES or ending not in ("csv", "parquet"):
        raise Refused(404, "there is no such table", f"there are {', '.join(TABLES)}, each as .csv and .parquet")
    only = _only(asked) if table == "tensors" else expressions.Answer("true", [])
    schema, batches = _batches(asked.trace.apart(), table, asked["where"], only)
    file = f"{asked.trace.id}-{table}.{ending}"
    if ending == "csv":
        return Answer(_csv(schema, batches), "text/csv; charset=utf-8", file)
    return Answer(_parquet(schema, batches), "application/vnd.apache.parquet", file)


def _only(asked: Asked) -> expressions.Answer:
    """Writes SQL for what the page's table is narrowed to besides its filter: a process, an execution, what a line
    made."""
    if asked["process"] is None and asked["execution"] is None and not asked["source"]:
        return expressions.Answer("true", [])
    process = asked.process()
    conditions = ["t.process = ?"]
    parameters: list[Any] = [process]
    if asked["execution"] is not None:
        conditions.append("t.execution = ?")
        parameters.append(asked["execution"])
    if asked["source"]:
        with asked.trace.lock:
            ops = ops_of_line(asked.trace, process, asked["source"], asked["line"])
        conditions.append("list_contains(?, t.op)")
        parameters.append(list(ops))
    return expressions.Answer(" AND ".join(conditions), parameters)


def _batches(
    trace: Trace, table: str, where: str, only: expressions.Answer
) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """Reads a table in batches. The first is read at once: what is wrong with a filter shows then, and not in the
    middle of a file."""
    if where and table != "tensors":
        raise Refused(400, f"{table} cannot be filtered", "use where with tensors")
    connection = trace.connect(alerts=table == "alerts")
    sql, parameters = f"SELECT * FROM {table}", []
    if table == "tensors":
        answer = expressions.parse(where).sql() if where else expressions.Answer("true", [])
        sql = "SELECT t.*, o.name, o.type FROM tensors t JOIN ops o USING (process, op)"
        sql = f"{sql} WHERE ({answer.sql}) AND {only.sql}"
        is_part = bool(where or only.parameters)
        sql, parameters = f"{sql} ORDER BY t.process, t.seq" if is_part else sql, answer.parameters + only.parameters
    try:
        reader = record_batches(connection, sql, parameters, _CHUNK)
        first = next(reader, None)
    except (duckdb.Error, pa.ArrowException) as error:
        raise Refused(400, f"this query failed: {str(error).partition(chr(10))[0]}", "try another filter") from error
    return reader.schema, chain([] if first is None else [first], reader)


def _csv(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    is_first = True
    for batch in batches:
        out = io.BytesIO()
        options = pa.csv.WriteOptions(include_header=is_first)
        pa.csv.write_csv(_flat(pa.Table.from_batches([batch])), out, options)
        is_first = False
        yield out.getvalue()
    if is_first:
        yield (",".join(f'"{name}"' for name in schema.names) + "\n").encode()


def _flat(table: pa.Table) -> pa.Table:
    """Makes JSON-like text and hexadecimal digits of lists and bytes, which CSV does not have."""
    for place, field in enumerate(table.schema):
        if pa.types.is_nested(field.type):
            texts = [None if one is None else str(one) for one in table[field.name].to_pylist()]
        elif pa.types.is_binary(field.type) or pa.types.is_fixed_size_binary(field.type):
            texts = [None if one is None else one.hex() for one in table[field.name].to_pylist()]
        else:
            continue
        table = table.set_column(place, field.name, pa.array(texts, pa.string()))
    return table


def _parquet(schema: pa.Schema, batches: Iterator[pa.RecordBatch]) -> Iterator[bytes]:
    """Writes Parquet to a file first, for its directory stands at its end."""
    with tempfile.TemporaryFile() as file:
        with pq.ParquetWriter(file, schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_batch(batch)
        file.seek(0, os.SEEK_SET)
        while piece := file.read(_PIECE):
            yield piece


def report(asked: Asked) -> Answer:
    page: str = asked.trace.kept("report", lambda: build(asked.trace.apart()))
    file = f"{asked.trace.id}.html" if asked["save"] else ""
    headers = {"Content-Security-Policy": _REPORT_POLICY}
    return Answer(page.encode(), "text/html; charset=utf-8", file, headers)


def diff(asked: Asked) -> dict[str, Any]:
    trace, other, exact = asked.trace, asked.traces.find(asked["other"]), asked["exact"]
    other.refresh()

    def make() -> dict[str, Any]:
        found = compare(trace.apart(), other.apart(), exact=exact)
        return found.as_dict() | {"a": trace.id, "b": other.id, "lines": diff_lines(found, _WIDE)}

    return trace.kept(("diff", other.id, other.version, exact), make)


_SIDE = named(
    "DiffSide",
    record(
        seq=whole(),
        op_type=text(),
        op_name=text(),
        **PLACE,
        source=maybe(text()),
        dtype=text(),
        shape=listing(whole()),
        numbers=NUMBERS_OF_TENSOR,
    ),
)
_PARTING = record(
    step=whole(),
    slot=whole(),
    is_input=truth(),
    what=text("what differs, in words"),
    difference=number("relative to the largest element"),
    allowed=number(),
    a=maybe(_SIDE),
    b=maybe(_SIDE),
)
_DIFF = named(
    "Diff",
    record(
        a=text(),
        b=text(),
        verdict=one_of(("differ", "same")),
        exact=truth(),
        parting=maybe(_PARTING),
        compared=record(tensors=whole(), measured=whole(), steps=whole(), largest_difference=number()),
        notes=listing(text()),
        lines=listing(text()),
    ),
)

ROUTES = (
    Route(
        "/api/t/{trace}/export/{file}",
        "A table as a file, such as tensors.csv or ops.parquet",
        export,
        kind="application/octet-stream",
        parameters=(
            WHERE,
            PROCESS,
            Parameter("execution", "tensors only: those of this execution", least=-1),
            Parameter("source", "tensors only: those of ops created in this file", "text", default=""),
            Parameter("line", "and, of these, only those of this line"),
        ),
    ),
    Route(
        "/api/t/{trace}/report.html",
        "The report that tdbg report writes",
        report,
        kind="text/html",
        parameters=(Parameter("save", "1: as a file to save", "truth", default=False),),
    ),
    Route(
        "/api/t/{trace}/diff",
        "The first op and line where this run and another diverge",
        diff,
        _DIFF,
        (
            Parameter("other", "the id of the other trace", "text", is_required=True, most=200),
            Parameter("exact", "1: rounding counts as a difference too", "truth", default=False),
        ),
    ),
)
