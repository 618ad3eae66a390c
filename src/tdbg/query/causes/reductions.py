"""Reductions over nothing."""

from __future__ import annotations

import numpy as np

from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.fixes import rewrite as r
from tdbg.query.fixes import sum_formulas as s
from tdbg.query.fixes.trial import Samples
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_NAMES = {
    Kind.MEAN: "mean",
    Kind.MAX: "maximum",
    Kind.MIN: "minimum",
    Kind.SEGMENT_MEAN: "mean",
    Kind.SEGMENT_MEAN: "mean",
}
_NAMES |= {Kind.DIVIDE: "mean"}
_NOTHING = Samples((np.zeros(0, np.float32),), "an empty tensor")


@rule(Kind.MEAN, Kind.MAX, Kind.MIN, Kind.SEGMENT_MEAN, Kind.DIVIDE)
def of_nothing(case: Case) -> Cause | None:
    x = case.inputs[0].row if case.inputs else None
    if x is None or x.elements != 0:
        return None
    text = f"the {_NAMES[case.op.type]} of no elements: the tensor is empty ({case.inputs[0].came_from()})"
    return Cause("empty_reduction", text, fix=_guarded(case))


def _guarded(case: Case) -> Fix | None:
    if case.op.kind != Kind.MEAN:
        return Fix("skip empty tensors, or divide the sum by tf.maximum(count, 1)")
    count = "{tf}.maximum({tf}.size({0}), 1)"
    changed = code(case, _of_all, f"{{tf}}.reduce_sum({{0}}) / {{tf}}.cast({count}, {case.row.label!r})")
    text = "divide the sum by the count, or by 1 if it is empty; or skip empty tensors"
    return propose(s.mean, _NOTHING, Proposal(text, s.mean_or_zero, changed))


def _of_all(statement: r.Statement, node: object) -> r.Place | None:
    """``reduce_mean(x)`` without an axis."""
    place = r.call("reduce_mean")(statement, node)  # type: ignore[arg-type]
    return place if place is not None and not place.parts[1] else None
