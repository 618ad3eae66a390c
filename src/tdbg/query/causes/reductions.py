"""Reductions over nothing."""

from __future__ import annotations

import ast

import numpy as np

from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.fixes import sum_formulas as s
from tdbg.query.fixes.finders import call_of
from tdbg.query.fixes.statement import Place, Statement
from tdbg.query.fixes.trial import Samples
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_NAMES = {
    Kind.MEAN: "mean",
    Kind.SEGMENT_MEAN: "mean",
    Kind.DIVIDE: "mean",  # of a sum by a count
    Kind.MAX: "maximum",
    Kind.MIN: "minimum",
}
_NOTHING = Samples((np.zeros(0, np.float32),), "an empty tensor")


@rule(*_NAMES)
def of_nothing(case: Case) -> Cause | None:
    x = case.inputs[0].row if case.inputs else None
    if x is None or x.elements != 0:
        return None
    text = f"the {_NAMES[case.op.kind]} of no elements: the tensor is empty ({case.inputs[0].came_from()})"
    return Cause("empty_reduction", text, fix=_guarded(case))


def _guarded(case: Case) -> Fix | None:
    if case.op.kind != Kind.MEAN:
        return Fix(f"skip empty tensors, or divide the sum by {case.dialect.says('maximum', 'count', '1')}")
    changed = code(case, _of_all, case.dialect.write("mean_or_zero", "{0}", case.row.label))
    text = "divide the sum by the count, or by 1 if it is empty; or skip empty tensors"
    return propose(s.mean, _NOTHING, Proposal(text, s.mean_or_zero, changed))


def _of_all(statement: Statement, node: ast.AST) -> Place | None:
    """``reduce_mean(x)`` without an axis."""
    found = call_of(statement, node, Kind.MEAN)
    return found.place(statement.text(found.first)) if found is not None and found.is_unary else None
