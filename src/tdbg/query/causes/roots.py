"""Roots of negative numbers, and their slopes at zero."""

from __future__ import annotations

from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule


@rule("Sqrt", "Rsqrt", "Log1p")
def root_domain(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or x.zero is None:
        return None
    if x.negative and case.row.nan:
        text = f"{case.op.type.lower()} of a negative number ({x.negative:,} of {x.elements:,})"
        return Cause("sqrt_of_negative", text, fix=Fix("clamp the input to ≥ 0"))
    if case.op.type == "Rsqrt" and x.zero:
        text = f"1/sqrt(0): {x.zero:,} of {x.elements:,} elements are exactly 0"
        return Cause("rsqrt_of_zero", text, fix=Fix("add an epsilon inside the root"))
    return None


@rule("SqrtGrad", "RsqrtGrad")
def slope_at_zero(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or not x.zero:
        return None
    text = f"the slope of sqrt at 0 is infinite: {x.zero:,} of {x.elements:,} elements are exactly 0"
    return Cause("sqrt_at_zero", text, fix=Fix("sqrt(x + epsilon)"))
