"""Exponentials that are larger than their type can hold."""

from __future__ import annotations

from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.causes.softmax import softmax_of, stable_softmax
from tdbg.query.causes.wording import at_element, in_wide, number
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes.finders import argument_of
from tdbg.query.fixes.trial import samples_of
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_FORMULAS = {Kind.EXP: f.exp, Kind.EXPM1: f.expm1, Kind.SINH: f.sinh, Kind.COSH: f.cosh}
_SQUARES = (Kind.SQUARE, Kind.SQUARED_DIFFERENCE, Kind.MULTIPLY, Kind.POWER)


@rule(*_FORMULAS)
def exp_overflow(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or x.max is None or x.min is None or case.row.nan:
        return None
    name, is_exp = case.op.kind.value, case.op.kind == Kind.EXP
    worst = x.min if case.row.neg_inf or (case.op.kind == Kind.COSH and -x.min > x.max) else x.max
    evidence = (*at_element(case, f"{name}({{0}})"), *in_wide(case))
    if is_exp and _is_precision(case):
        text = f"a squared error times exp({number(worst)}), the inverse of a variance that is almost 0"
        return Cause("variance_collapse", text, evidence, _bounded(case, "10.0"))
    text = f"{name}({number(worst)}) is larger than {case.row.label} can hold"
    quotient = softmax_of(case) if is_exp else None
    if quotient is not None:
        evidence = (*evidence, "this is a hand-written softmax, which divides infinity by infinity")
        return Cause("exp_overflow", text, evidence, stable_softmax(case, quotient, samples_of(case, 0)))
    return Cause("exp_overflow", text, evidence, _bounded(case))


def _is_precision(case: Case) -> bool:
    """exp(-log_variance) that multiplies a square."""
    if case.makers(0, 1) != [Kind.NEGATE]:
        return False
    products = [reader for reader in case.read_by if reader.op.kind == Kind.MULTIPLY]
    factors = [fact.op for product in products for fact in product.inputs]
    return any(op.kind in _SQUARES for op in factors if op.number != case.op.number)


def _limit(case: Case) -> str:
    return {"float16": "10.0", "float64": "40.0"}.get(case.row.label, "20.0")


def _bounded(case: Case, limit: str = "") -> Fix | None:
    formula, limit, write = _FORMULAS[case.op.kind], limit or _limit(case), case.dialect.write
    if case.op.kind == Kind.EXP:
        bound, template = f.at_most(float(limit)), write("minimum", "{0}", limit)
    else:
        bound, template = f.clip(-float(limit), float(limit)), write("clip", "{0}", f"-{limit}", limit)
    after, changed = f.then(bound, formula), code(case, argument_of(case.op.kind), template)
    text = f"stay in log space; or bound the exponent (by {limit}), which leaves no gradient beyond it"
    return propose(formula, samples_of(case, 0), Proposal(text, after, changed))
