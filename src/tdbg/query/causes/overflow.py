"""Results that are larger than their type can hold."""

from __future__ import annotations

from tdbg.model import DType
from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule

LARGEST = {DType.FLOAT16: 65504.0, DType.BFLOAT16: 3.39e38, DType.FLOAT32: 3.4e38, DType.FLOAT64: 1.79e308}
_PRODUCTS = ("Mul", "MatMul", "BatchMatMulV2", "Square", "Pow")


@rule("Exp", "Expm1")
def exp_overflow(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or x.max is None or not case.row.pos_inf:
        return None
    text = f"exp({x.max:.4g}) is larger than {case.row.label} can hold"
    return Cause("exp_overflow", text, fix=Fix("subtract the maximum first, or stay in log space"))


@rule(*_PRODUCTS, "Cast", "Sum", "AddV2", "Conv2D", "SquaredDifference")
def too_large(case: Case) -> Cause | None:
    out, facts = case.row, [fact.row for fact in case.inputs if fact.row.max is not None]
    largest = max((max(abs(x.min or 0.0), abs(x.max or 0.0)) for x in facts), default=0.0)
    if out.nan or not (out.pos_inf or out.neg_inf):
        return None
    if case.op.type == "Cast":
        if largest <= LARGEST.get(case.dtype, float("inf")):
            return None
        text = f"{largest:.4g} does not fit into {out.label}"
        return Cause("cast_overflow", text, fix=Fix("keep this value in float32"))
    if case.dtype == DType.FLOAT16:
        text = f"the result is larger than 65,504, the largest float16 (inputs up to {largest:.4g})"
        return Cause("half_overflow", text, fix=Fix("compute this in float32, or scale the values down"))
    if case.op.type in _PRODUCTS and largest > 1e10:
        text = f"the result is larger than {out.label} can hold (inputs up to {largest:.4g})"
        return Cause("mul_overflow", text, fix=Fix("look for values that grow from step to step"))
    return None
