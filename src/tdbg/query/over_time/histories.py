"""Reads the numbers of some outputs over a range of steps, in as many points as are wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tdbg.model import BAD_SQL, NUMBERS, STATISTICS, Flag
from tdbg.query.trace.rows import Rows

_COLUMNS = ("first", "last", "rows", *STATISTICS, "zero", "elements", "nan", "inf", "bad")
_MERGES = {"least": "min", "greatest": "max"}
_OVER_STEPS = ", ".join(
    f"{_MERGES.get(one.merged, 'avg')}({one.name}) FILTER (NOT isnan({one.name}))"
    for one in NUMBERS
    if not one.is_count
)


class Output(NamedTuple):
    """One output of an op."""

    op: int
    slot: int


def as_one(ops: Sequence[int]) -> str:
    """Writes SQL for the number of an op. Ops that are one, in a function that was traced again, all count as the
    first."""
    if len(ops) < 2:
        return "op"
    return f"CASE WHEN op IN ({', '.join(str(int(op)) for op in ops)}) THEN {int(ops[0])} ELSE op END"


def histories(
    rows: Rows, process: int, outputs: Sequence[Output], first: int, last: int, points: int, same: Sequence[int] = ()
) -> dict[Output, dict[str, list[Any]]]:
    """Gives for each output columns with one entry for each point. ``first`` and ``last`` are the steps of a point; the
    extremes are over them, mean and std are averages, the counts are sums, ``bad`` counts tensors. The ops in ``same``
    are taken as their first."""
    width = max(1, -(-(last - first + 1) // max(1, points)))
    wanted = ", ".join(str(int(op)) for op in (*(one.op for one in outputs), *same))
    found = rows.query(
        f"""SELECT {as_one(same)} AS one, slot, min(step), max(step), count(*),
            {_OVER_STEPS},
            sum(zero)::BIGINT, sum(elements)::BIGINT, sum(nan)::BIGINT, sum(neg_inf + pos_inf)::BIGINT,
            count(*) FILTER ({BAD_SQL})
        FROM tensors WHERE process = {process} AND op IN ({wanted or "-1"})
            AND step BETWEEN {int(first)} AND {int(last)} AND flags & {int(Flag.EVIDENCE)} = 0
        GROUP BY one, slot, (step - {int(first)}) // {width} ORDER BY 3"""
    )
    made: dict[Output, dict[str, list[Any]]] = {one: {name: [] for name in _COLUMNS} for one in outputs}
    for op, slot, *cells in found:
        columns = made.get(Output(op, slot))
        if columns is not None:
            for name, cell in zip(_COLUMNS, cells, strict=True):
                columns[name].append(cell)
    return made
