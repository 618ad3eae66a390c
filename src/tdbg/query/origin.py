"""Troubled rows of one step in; the row where it began out: the first op with good inputs and a bad output."""

from __future__ import annotations

from collections.abc import Iterable

from tdbg.model import Phase
from tdbg.query.lineage import Lineage
from tdbg.query.program import Program
from tdbg.query.rows import Row

_MOST_VISITED = 20_000
_RANK = {Phase.BACKWARD: 1, Phase.UPDATE: 2}


def find_origin(troubled: list[Row], lineage: Lineage, program: Program) -> Row:
    """Walks back from every troubled row and takes the earliest origin.

    Forward comes before backward, whatever the clock says: a graph may compute the slope of log at 0, which is infinite
    too, before it is done with the loss.
    """
    return min(
        _origins(troubled, lineage, program),
        key=lambda row: (row.step, _RANK.get(program.ops[row.op].phase, 0), row.seq),
    )


def _origins(troubled: list[Row], lineage: Lineage, program: Program) -> Iterable[Row]:
    seen: dict[int, Row] = {row.seq: row for row in troubled}
    waiting = list(troubled)
    origins = []
    while waiting and len(seen) < _MOST_VISITED:
        row = waiting.pop()
        parents = [parent for parent in lineage.parents(row) if parent.is_bad and parent.seq != row.seq]
        if row.nan:  # a NaN made from a constant's infinity begins here: the constant (a mask's -inf) is innocent
            parents = [parent for parent in parents if parent.nan or program.ops[parent.op].type != "Const"]
        if not parents:
            origins.append(row)
        for parent in parents:
            if parent.seq not in seen:
                seen[parent.seq] = parent
                waiting.append(parent)
    return origins or troubled
