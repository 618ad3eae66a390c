"""Bad values that a where, a clip or a mask hides in the forward pass only, and masks that leave nothing."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, code, propose, tiny, tiny_square
from tdbg.query.causes.wording import at_element, place_of
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes import sum_formulas as s
from tdbg.query.fixes.finders import argument_of, minus_infinity, where_around, where_of_quotient
from tdbg.query.fixes.formulas import Formula
from tdbg.query.fixes.trial import Samples, samples_of
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_SHIELDS = (
    Kind.SELECT, Kind.CLIP, Kind.MAXIMUM, Kind.MINIMUM, Kind.MULTIPLY_NO_NAN, Kind.TANH, Kind.SIGMOID, Kind.EXP,
    Kind.ERF, Kind.ATAN, Kind.SOFTSIGN, Kind.RELU, Kind.RELU6, Kind.ELU, Kind.SELU, Kind.SOFTPLUS,
)  # fmt: skip
_IS = (Kind.IS_FINITE, Kind.IS_NAN, Kind.IS_INFINITE)
# Of a kind of op: its formula, and a value that is safe for it.
_KNOWN: dict[Kind, tuple[Formula, float]] = {
    Kind.LOG: (f.log, 1.0),
    Kind.LOG1P: (f.log1p, 0.0),
    Kind.SQRT: (f.sqrt, 1.0),
    Kind.RSQRT: (f.rsqrt, 1.0),
    Kind.RECIPROCAL: (f.reciprocal, 1.0),
    Kind.EXP: (f.exp, 0.0),
    Kind.ACOS: (f.acos, 0.0),
    Kind.ASIN: (f.asin, 0.0),
    Kind.ATANH: (f.atanh, 0.0),
    Kind.ACOSH: (f.acosh, 2.0),
}
# What makes a number of an infinity, with a slope of 0.
_FLATTEN = {Kind.TANH: f.tanh, Kind.SIGMOID: f.sigmoid, Kind.EXP: f.exp}


@rule(first=True)
def hidden_forward(case: Case) -> Cause | None:
    """A forward op gave bad values, a where or a clip took them away, and the gradient met them all the same."""
    forward = case.forward_case if case.is_backward else case
    shield = _hidden_by(forward) if forward is not None and not forward.row.is_input else None
    if forward is None or shield is None:
        return None
    is_where = shield.op.kind == Kind.SELECT
    cleaned = is_where and any(reader.kind in _IS for reader in forward.readers())
    name = "where_trap" if is_where and not cleaned else "clip_after_bad_op"
    how = "where" if is_where else shield.op.type
    bad = forward.row.bad_text()
    reason = f"{forward.op.type} gives {bad}; {how} hides that from the loss, not from the gradient (0·inf = NaN)"
    function = forward.op.kind.value if forward.op.kind in _KNOWN else forward.op.type.lower()
    formula = "{0} / {1}" if forward.op.kind == Kind.DIVIDE else f"{function}({{0}})"
    evidence = (*at_element(forward, formula, len(forward.inputs) - 1), f"hidden by {place_of(shield)}")
    return Cause(name, reason, evidence, _safe_input(case, forward, shield, name))


def _hidden_by(case: Case) -> Case | None:
    """The op (a where, a clip) behind which the bad values of a forward op are gone, if all of them are."""
    if not case.row.is_bad or case.is_backward:
        return None
    waiting, seen, shield = [case], {case.row.seq}, None
    while waiting and len(seen) < 64:
        readers = waiting.pop().read_by
        if not readers:
            return None
        for reader in readers:
            if reader.row.is_bad and reader.row.seq not in seen:
                seen.add(reader.row.seq)
                waiting.append(reader)
            elif not reader.row.is_bad and reader.op.kind in _SHIELDS:
                shield = reader
    return shield


def _safe_input(case: Case, forward: Case, shield: Case, name: str) -> Fix | None:
    if forward.op.kind == Kind.DIVIDE:
        return _safe_quotient(case, forward)
    known, where = _KNOWN.get(forward.op.kind), case.dialect.says("where")
    if known is None:
        return Fix(f"keep the bad input away from {forward.op.type}: {where} on the input as well")
    formula, safe = known
    chosen = _good_for(formula)
    text = f"keep the bad values away from {forward.op.kind.value}: {where} on its input as well (the double where)"
    flat = _FLATTEN.get(shield.op.kind, f.same)
    safely = f.then(f.safe_where(chosen, formula, safe), flat)
    twice = Proposal(text, safely, _double_where(case, forward.op.kind, safe))
    bounded = _bounded(case, forward, f.then(formula, flat)) if name == "clip_after_bad_op" else None
    before = f.where(chosen, formula) if flat is f.same else f.then(formula, flat)
    return propose(before, samples_of(forward, 0), *((bounded, twice) if bounded else (twice,)))


def _double_where(case: Case, kind: Kind, safe: float) -> str:
    write = case.dialect.write
    like = {0.0: write("zeros_like", "{1}"), 1.0: write("ones_like", "{1}")}
    other = like[safe] if safe in like else write("full_like", "{1}", str(safe))
    return code(case, where_around(kind), write("where", "{0}", "{1}", other))


def _bounded(case: Case, forward: Case, formula: Formula) -> Proposal | None:
    kind = forward.op.kind
    bounds = {Kind.LOG: tiny(forward), Kind.SQRT: tiny_square(forward), Kind.RSQRT: tiny_square(forward)}
    bound = bounds.get(kind)
    if bound is None:
        return None
    changed = code(case, argument_of(kind), case.dialect.write("maximum", "{0}", bound))
    text = f"bound the input of {kind.value}, not its output"
    return Proposal(text, f.then(f.at_least(float(bound)), formula), changed)


def _safe_quotient(case: Case, forward: Case) -> Fix | None:
    write, says = case.dialect.write, case.dialect.says
    changed = code(case, where_of_quotient, write("where", "{0}", "{1}", write("ones_like", "{1}")))
    text = f"keep the zeros out of the denominator: {says('where')} on it as well, or {says('divide_no_nan')}"
    return propose(f.divide, samples_of(forward, 0, 1), Proposal(text, f.divide_no_nan, changed))


def _good_for(formula: Formula) -> Callable[[np.ndarray], np.ndarray]:
    def chosen(x: np.ndarray) -> np.ndarray:
        value, back = formula(x)
        (slope,) = back(np.ones_like(x))
        return np.isfinite(value) & np.isfinite(slope)

    return chosen


@rule(Kind.SOFTMAX, Kind.LOG_SOFTMAX, Kind.SOFTMAX_CROSS_ENTROPY)
def nothing_left(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or not case.row.nan:
        return None
    if x.pos_inf:
        text = f"the softmax of +inf is NaN: {x.pos_inf:,} of {x.elements:,} logits are +inf"
        return Cause("softmax_overflow", text, fix=Fix("compute the logits in float32, and keep them small"))
    if not x.neg_inf or x.nan:
        return None
    row = f" (row {list(case.element[:-1])})" if case.element else ""
    text = f"a row of the softmax is completely masked{row}: every one of its logits is -inf, and -inf - -inf is NaN"
    return Cause("all_masked_softmax", text, fix=_finite_mask("-6e4" if x.label == "float16" else "-1e9"))


def _finite_mask(value: str) -> Fix | None:
    def masked(x: np.ndarray) -> tuple[np.ndarray, f.Pullback]:
        return f.softmax(np.where(np.isinf(x), x.dtype.type(float(value)), x))

    samples = Samples((np.array([[-np.inf, -np.inf]], np.float32),), "a row of two logits, both masked")
    return propose(f.softmax, samples, Proposal(f"mask with {value} instead of -inf, or leave out such rows", masked))


@rule(Kind.MULTIPLY, Kind.MATMUL)
def mask_times_infinity(case: Case) -> Cause | None:
    """0 · ∞: a mask can be multiplied onto finite values only."""
    infinite = [fact for fact in case.inputs if (fact.row.neg_inf or fact.row.pos_inf) and not fact.row.nan]
    zeros = [fact for fact in case.inputs if fact.row.zero]
    if not case.row.nan or not infinite or not zeros:
        return None
    text = f"0 times infinity is NaN: the infinity {infinite[0].came_from()}, the 0 {zeros[-1].came_from()}"
    chosen = f"{case.dialect.says('where', 'mask', 'value', '0.0')} instead of the product"
    value = "-6e4" if case.row.label == "float16" else "-1e9"
    words = f"use a finite number, {value}, instead of infinity; or {chosen}"
    return Cause("wrong_mask", text, fix=_finite_factor(case, words, value))


def _finite_factor(case: Case, words: str, value: str) -> Fix | None:
    def finite(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, f.Pullback]:
        return s.product(a, np.where(np.isinf(b), b.dtype.type(float(value)), b))

    factors = np.array([0.0, 1.0], np.float32), np.array([-np.inf, -np.inf], np.float32)
    samples = Samples(factors, "0 and 1 times -inf")
    return propose(s.product, samples, Proposal(words, finite, code(case, minus_infinity, value)))
