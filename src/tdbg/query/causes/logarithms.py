"""Logarithms of what has none."""

from __future__ import annotations

from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule


@rule("Log")
def log_domain(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or x.zero is None:
        return None
    if x.negative:
        text = f"log of a negative number ({x.negative:,} of {x.elements:,})"
        return Cause("log_of_negative", text, fix=Fix("check the sign of the input"))
    if x.zero:
        text = f"log(0): {x.zero:,} of {x.elements:,} elements are exactly 0"
        return Cause("log_of_zero", text, fix=Fix("clip the input before the log, or use a loss that takes logits"))
    return None
