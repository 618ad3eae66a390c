"""Divisions by zero."""

from __future__ import annotations

from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule

_FIX = Fix("tf.math.divide_no_nan, or add an epsilon")


@rule("RealDiv", "Div", "Reciprocal", "Inv", "Xdivy")
def division_by_zero(case: Case) -> Cause | None:
    below = case.inputs[-1].row if case.inputs else None
    if below is None or not below.zero:
        return None
    zeros = f"{below.zero:,} of {below.elements:,} elements are exactly 0"
    if case.row.nan:
        return Cause("zero_over_zero", f"0/0: in the denominator {zeros}", fix=_FIX)
    return Cause("div_by_zero", f"division by zero: {zeros}", fix=_FIX)
