"""Powers of zero and of negative numbers."""

from __future__ import annotations

from tdbg.query.causes import Cause, Fix, rule, slope_rule
from tdbg.query.causes.proposals import Proposal, code, propose, tiny
from tdbg.query.causes.wording import at_element, number, share
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes.finders import argument_of, power
from tdbg.query.fixes.trial import samples_of
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind


@rule(Kind.POWER)
def power_domain(case: Case) -> Cause | None:
    base, exponent = case.input(0), case.input(1)
    if base is None or exponent is None or base.min is None or exponent.min is None:
        return None
    seen = at_element(case, "{0} ** {1}")
    if base.negative and case.row.nan:
        negative = share(base.negative, base.elements, "negative")
        text = f"a negative number has no real power of {number(exponent.min)}: {negative}"
        return Cause("pow_domain", text, seen, _bounded(case))
    if base.zero and exponent.min < 0:
        text = f"0 to the power of {number(exponent.min)} is infinite: {share(base.zero, base.elements, 'exactly 0')}"
        return Cause("pow_domain", text, seen, _bounded(case))
    return None


@slope_rule(Kind.POWER)
def power_slope(case: Case) -> Cause | None:
    forward = case.forward_case
    base, exponent = (forward.input(0), forward.input(1)) if forward else (None, None)
    if forward is None or base is None or exponent is None or exponent.min is None:
        return None
    if base.zero and exponent.min < 1:
        zeros = share(base.zero, base.elements, "exactly 0")
        text = f"the slope of x ** {number(exponent.min)} at 0 is infinite: {zeros}"
        return Cause("pow_domain", text, at_element(case, "{0} ** {1}"), _bounded(case, forward))
    if base.negative and case.op.kind in (Kind.LOG, Kind.MULTIPLY):
        negative = share(base.negative, base.elements, "negative")
        text = f"the gradient of the exponent takes the log of the base, and {negative}"
        words = f"use {case.dialect.says('stop_gradient')} on the exponent, or a base that is positive"
        return Cause("pow_domain", text, fix=Fix(words))
    return None


def _bounded(case: Case, forward: Case | None = None) -> Fix | None:
    bound = tiny(case)

    def bounded(x: f.Array, e: f.Array) -> tuple[f.Array, f.Pullback]:
        raised, back = f.at_least(float(bound))(x)
        y, pull = f.power(raised, e)
        return y, lambda g: back(pull(g)[0])

    above = case.dialect.write("maximum", "{0}", bound)
    changed = code(case, argument_of(Kind.POWER), above)
    changed = changed or code(case, power, above and f"{above.operand} ** {{1.operand}}")
    text = "bound the base from below, or use its absolute value and its sign separately"
    return propose(f.power, samples_of(forward or case, 0, 1), Proposal(text, bounded, changed))
