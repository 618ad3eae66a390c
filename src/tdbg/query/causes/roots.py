"""Roots of negative numbers, and their slopes at zero."""

from __future__ import annotations

import ast

import numpy as np

from tdbg.query.causes import Cause, Fix, rule, slope_rule
from tdbg.query.causes.division import lost_epsilon
from tdbg.query.causes.proposals import Proposal, code, propose, tiny_square
from tdbg.query.causes.wording import at_element, number, share
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes.finders import argument_of, call_of
from tdbg.query.fixes.statement import Place, Statement
from tdbg.query.fixes.trial import Samples, samples_of
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_SQUARES = frozenset((Kind.SQUARE, Kind.MULTIPLY, Kind.POWER))
_ZERO_VECTOR = Samples((np.zeros(3, np.float32),), "a vector of zeros")


@rule(Kind.SQRT, Kind.RSQRT)
def root_domain(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or x.zero is None:
        return None
    name = case.op.kind.value
    seen = at_element(case, f"{name}({{0}})")
    if x.negative and case.row.nan:
        return _of_negative(case, x.negative, seen)
    if case.op.kind == Kind.RSQRT and x.zero:
        text = f"1/sqrt(0): {share(x.zero, x.elements, 'exactly 0')}"
        why = ("the epsilon of this normalisation is 0",) if case.stack_has(case.dialect.signs.normalising) else ()
        if lost_epsilon(case, 0):
            why = ("the added epsilon rounds to 0 in float16, whose smallest number is 6e-8",)
        return Cause("rsqrt_of_zero", text, (*seen, *why), _bounded(case, f.rsqrt))
    return None


def _of_negative(case: Case, negative: int, seen: tuple[str, ...]) -> Cause:
    x = case.input(0)
    assert x is not None
    name = case.op.kind.value
    fix = _bounded(case, f.sqrt if case.op.kind == Kind.SQRT else f.rsqrt)
    lost = _cancelled(case)
    if lost:
        return Cause("catastrophic_cancellation", f"{name} of a negative number: {lost}", seen, fix)
    text = f"{name} of a negative number: {share(negative, x.elements, f'negative (down to {number(x.min or 0)})')}"
    return Cause("sqrt_of_negative", text, seen, fix)


def _cancelled(case: Case) -> str:
    """A difference of two numbers that are equal up to rounding: what is left is the rounding error."""
    made = next(iter(case.chain(0, 1)), None)
    x = case.input(0)
    if made is None or made.op.kind != Kind.SUBTRACT or x is None or x.min is None:
        return ""
    sizes = [max(abs(fact.row.min or 0.0), abs(fact.row.max or 0.0)) for fact in made.inputs]
    if len(sizes) < 2 or abs(x.min) > min(sizes) * 1e-4:
        return ""
    shown = " - ".join(number(size) for size in sizes[:2])
    return f"{shown} should be 0 or more, and rounding left {number(x.min)}"


def _bounded(case: Case, formula: f.Formula) -> Fix | None:
    bound = tiny_square(case)
    changed = code(case, argument_of(case.op.kind), case.dialect.write("maximum", "{0}", bound))
    after = f.then(f.at_least(float(bound)), formula)
    return propose(formula, samples_of(case, 0), Proposal("bound what is under the root from below", after, changed))


@slope_rule(Kind.SQRT, Kind.RSQRT)
def slope_at_zero(case: Case) -> Cause | None:
    forward = case.forward_case
    y = case.input(0)
    if y is None or not y.zero or forward is None:
        return None
    zeros = share(y.zero, y.elements, "exactly 0")
    seen = at_element(case, "0.5 * {1} / {0}")
    makers = forward.makers(0, 3)
    is_sum_of_squares = makers[:1] == [Kind.SUM] and not _SQUARES.isdisjoint(makers[1:2])
    if is_sum_of_squares or forward.is_made_in(case.dialect.signs.norm):
        text = f"the norm of a zero vector has no slope: {zeros}"
        return Cause("norm_at_zero", text, (*seen, "its gradient is x / norm, which is 0 / 0 there"), _safe_norm(case))
    what = "a standard deviation" if makers[:1] == [Kind.MEAN] else "sqrt"
    text = f"the slope of {what} at 0 is infinite: {zeros}"
    return Cause("sqrt_at_zero", text, seen, _at_zero(case, forward))


def _at_zero(case: Case, forward: Case) -> Fix | None:
    bound = tiny_square(case)
    changed = code(case, argument_of(Kind.SQRT), case.dialect.write("maximum", "{0}", bound))
    text = f"bound what is under the root from below (by {bound}), or add an epsilon there"
    return propose(f.sqrt, samples_of(forward, 0), Proposal(text, f.then(f.at_least(float(bound)), f.sqrt), changed))


def _safe_norm(case: Case) -> Fix | None:
    bound, write = tiny_square(case), case.dialect.write
    root = code(case, argument_of(Kind.SQRT), write("maximum", "{0}", bound))
    whole = write("sqrt", write("maximum", write("sum_of_squares", "{0}", "{1}"), bound))
    changed = root or code(case, _euclidean, whole)
    text = "bound the sum of squares from below, before the root"
    return propose(f.norm, _ZERO_VECTOR, Proposal(text, f.safe_norm(float(bound)), changed))


def _euclidean(statement: Statement, node: ast.AST) -> Place | None:
    """``norm(x, axis=...)``, not another order of norm: the parts are x and the text of the others."""
    found = call_of(statement, node, Kind.NORM)
    if found is None:
        return None
    allowed = (*statement.dialect.axis_names, *statement.dialect.keep_names)
    is_plain = len(found.arguments) == 1 and all(keyword.arg in allowed for keyword in found.node.keywords)
    return found.place(statement.text(found.first), found.rest()) if is_plain else None
