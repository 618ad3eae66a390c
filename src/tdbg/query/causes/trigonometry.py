"""Inverse trigonometric functions and their kin, at and beyond the ends of their domains."""

from __future__ import annotations

import numpy as np

from tdbg.query.causes import Cause, Fix, rule, slope_rule
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.causes.wording import at_element, number
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes.finders import argument_of, second_argument_of
from tdbg.query.fixes.trial import Samples, samples_of
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_ORIGIN = Samples((np.zeros(1, np.float32), np.zeros(1, np.float32)), "the point (0, 0)")

# Kind: formula, the domain, and bounds within which value and slope are finite.
_KNOWN: dict[Kind, tuple[f.Formula, tuple[float, float], tuple[str, str]]] = {
    Kind.ACOS: (f.acos, (-1.0, 1.0), ("-0.999999", "0.999999")),
    Kind.ASIN: (f.asin, (-1.0, 1.0), ("-0.999999", "0.999999")),
    Kind.ATANH: (f.atanh, (-1.0, 1.0), ("-0.999999", "0.999999")),
    Kind.ERFINV: (f.erfinv, (-1.0, 1.0), ("-0.999999", "0.999999")),
    Kind.NDTRI: (f.ndtri, (0.0, 1.0), ("1e-6", "0.999999")),
    Kind.ACOSH: (f.acosh, (1.0, float("inf")), ("1.000001", "3e38")),
}


@rule(*_KNOWN)
def outside_domain(case: Case) -> Cause | None:
    return _explain(case, case, "")


@slope_rule(Kind.ATAN2)
def angle_of_nothing(case: Case) -> Cause | None:
    below = case.input(1)
    if below is None or not below.zero:
        return None
    text = "the angle of the point (0, 0) has no slope: the gradient of atan2(y, x) divides by x² + y², which is 0"
    return Cause("trig_domain", text, at_element(case, "{0} / {1}", 1), _off_origin(case))


def _off_origin(case: Case) -> Fix | None:
    write, where = case.dialect.write, case.dialect.says("where")
    template = write("where", "({0} == 0) & ({1} == 0)", write("ones_like", "{1}"), "{1}")
    changed = code(case, second_argument_of(Kind.ATAN2), template)
    text = f"keep (0, 0) away from atan2: {where} on its second input gives the angle 0 there"
    return propose(f.atan2, _ORIGIN, Proposal(text, f.atan2_off_origin, changed))


@slope_rule(*_KNOWN)
def slope_at_edge(case: Case) -> Cause | None:
    forward = case.forward_case
    return _explain(case, forward, "the slope of ") if forward else None


def _explain(case: Case, at: Case, what: str) -> Cause | None:
    x, name = at.input(0), at.op.kind.value
    formula, (low, high), (inner_low, inner_high) = _KNOWN[at.op.kind]
    if x is None or x.min is None or x.max is None or low < x.min <= x.max < high:
        return None
    worst = x.max if x.max >= high else x.min
    domain = f"[{low:g}, {high:g}]" if high != float("inf") else f"{low:g} and above"
    if worst in (low, high):
        text = f"{what}{name}({number(worst)}) is infinite: that is the end of its domain, {domain}"
    else:
        text = f"{name}({worst:.9g}) is outside its domain, {domain}"
        if abs(worst) < 1.001:
            text += "; rounding carried it past the end"
    template = case.dialect.write("clip", "{0}", inner_low, inner_high)
    if high == float("inf"):
        template = case.dialect.write("maximum", "{0}", inner_low)
    changed = code(case, argument_of(at.op.kind), template)
    words = f"keep its input a little inside: between {inner_low} and {inner_high}"
    after = f.then(f.clip(float(inner_low), float(inner_high)), formula)
    fix = propose(formula, samples_of(at, 0), Proposal(words, after, changed))
    return Cause("trig_domain", text, at_element(case, f"{name}({{0}})") if at is case else (), fix)
