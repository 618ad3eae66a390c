"""Reads the bad rows of one process that tell where trouble began.

Of each output that was ever bad the first bad row is taken, and the first with a NaN; with them all bad rows of the
same executions. So this stays quick however long a program went on with NaNs.
"""

from __future__ import annotations

from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Row, Rows

_MOST_ROWS, _MOST_EXECUTIONS = 50_000, 400


def first_rows(rows: Rows, program: Program, process: int) -> list[Row]:
    """Of each output that was ever bad, the first bad row and the first with a NaN, in the order of events."""
    found = rows.query(
        f"""SELECT min(seq), min(seq) FILTER (nan > 0 OR nan IS NULL) FROM tensors
        WHERE {rows.is_bad(process)} GROUP BY op, slot"""
    )
    wanted = sorted({seq for pair in found for seq in pair if seq is not None})[:_MOST_ROWS]
    if not wanted:
        return []
    numbers = ", ".join(map(str, wanted))
    chosen = rows.select(process, f"{rows.is_bad(process)} AND seq IN ({numbers})", None, "ORDER BY seq")
    return [row for row in chosen if row.op in program.ops]


def beside(rows: Rows, program: Program, process: int, firsts: list[Row]) -> list[Row]:
    """All bad rows of the executions that the first rows belong to, and those that eager ones were given."""
    executions = sorted({row.execution for row in firsts})[: _MOST_EXECUTIONS + 1]
    if not executions:
        return []
    numbers = ", ".join(map(str, executions))
    given = rows.query(
        f"SELECT DISTINCT unnest(inputs) FROM executions WHERE process = {process} AND execution IN ({numbers})"
    )
    tensors = ", ".join(str(tensor) for (tensor,) in given) or "-2"
    made_in = rows.query(f"SELECT execution FROM ends WHERE process = {process} AND list_has_any(outputs, [{tensors}])")
    calls = ", ".join([numbers, *(str(execution) for (execution,) in made_in)])
    alternatives = [f"execution IN ({calls})", f"tensor IN ({tensors})"]
    bad = rows.select_any(process, alternatives, rows.is_bad(process), _MOST_ROWS)
    known = {row.seq: row for row in [*bad, *firsts] if row.op in program.ops}
    return [known[seq] for seq in sorted(known)]


def eager_readers(rows: Rows, program: Program, process: int, tensors: list[int]) -> list[tuple[int, Op]]:
    """(tensor, an eager op that took it), for the first of these tensors."""
    tensors = tensors[:_MOST_EXECUTIONS]
    found = rows.query(
        f"SELECT tensor, op FROM (SELECT unnest(inputs) AS tensor, op FROM executions WHERE process = {process} "
        "AND list_has_any(inputs, ?::BIGINT[])) WHERE list_contains(?::BIGINT[], tensor)",
        [tensors, tensors],
    )
    return [(tensor, program.ops[op]) for tensor, op in found if op in program.ops] if tensors else []
