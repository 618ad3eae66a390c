"""Reductions over nothing."""

from __future__ import annotations

from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule

_NAMES = {"Mean": "mean", "Max": "maximum", "Min": "minimum", "SegmentMean": "mean", "SparseSegmentMean": "mean"}
_NAMES |= {"RealDiv": "mean"}


@rule("Mean", "Max", "Min", "SegmentMean", "SparseSegmentMean", "RealDiv")
def of_nothing(case: Case) -> Cause | None:
    x = case.inputs[0].row if case.inputs else None
    if x is None or x.elements != 0:
        return None
    text = f"the {_NAMES[case.op.type]} of no elements: the tensor is empty ({case.inputs[0].came_from()})"
    fix = Fix("skip what is empty, or divide the sum by tf.maximum(count, 1)")
    return Cause("empty_reduction", text, fix=fix)
