"""Elements that are taken from outside a tensor."""

from __future__ import annotations

from tdbg.model import DType
from tdbg.query.causes import NOT_AN_OP, Cause, Fix, rule
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind


@rule(Kind.GATHER, Kind.GATHER_ND, Kind.GATHER_READ)
def outside(case: Case) -> Cause | None:
    table, ids = case.input_values.get(0), case.input(1)
    if ids is None or DType(ids.dtype).is_floating or ids.max is None or ids.min is None:
        return None
    size = table.shape[0] if table is not None and table.ndim else None
    if ids.min >= 0 and (size is None or ids.max < size):
        return None
    text = f"indices go from {ids.min:.0f} to {ids.max:.0f}" + (f", but there are {size} rows" if size else "")
    words = "check the ids against the size of the table before the lookup"
    return Cause("index_out_of_range", text, fix=Fix(words, untried=NOT_AN_OP))
