"""Divisions by zero."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tdbg.model import DType
from tdbg.query.causes import Cause, Fix, rule, slope_rule
from tdbg.query.causes.proposals import Proposal, code, propose, tiny, tiny_square
from tdbg.query.causes.softmax import is_softmax, stable_softmax
from tdbg.query.causes.wording import at_element, number, share
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes.finders import call, division
from tdbg.query.fixes.trial import Samples, numpy_type, samples_of
from tdbg.query.trace.rows import Row
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_CONSTANTS = (Kind.CONSTANT, Kind.CAST)
_DECOMPOSITIONS = (Kind.SYMMETRIC_EIGEN, Kind.SVD, Kind.EIGEN)
_TELL_APART = (Kind.CAST, Kind.FILL, Kind.ONE_HOT, Kind.SELECT, Kind.ARGUMENT)  # what a mask may be made by
_FOLLOWING = {
    Kind.LOG: f.log,
    Kind.SQRT: f.sqrt,
    Kind.RSQRT: f.rsqrt,
    Kind.RECIPROCAL: f.reciprocal,
    Kind.LOG1P: f.log1p,
}
_SQUARES = frozenset((Kind.SQUARE, Kind.SQUARED_DIFFERENCE, Kind.MULTIPLY, Kind.POWER))


@rule(Kind.DIVIDE, Kind.XDIVY)
def division_by_zero(case: Case) -> Cause | None:
    below, above = case.input(1), case.input(0)
    if below is None and case.inputs:
        below = case.inputs[-1].row
    if below is None or not below.zero:
        return _too_large(case, above, below)
    return _by_zero(case, below, bool(case.row.nan))


@slope_rule(Kind.DIVIDE)
def division_slope(case: Case) -> Cause | None:
    forward = case.forward_case
    below = (forward.input(1) if forward else None) or case.input(1)
    if below is None or not below.zero:
        return None
    return _by_zero(forward or case, below, False)


def _by_zero(case: Case, below: Row, is_nan: bool) -> Cause | None:
    zeros = share(below.zero or 0, below.elements, "exactly 0")
    seen = at_element(case, "{0} / {1}", 1)
    makers = case.makers(1, 4)
    if makers[:1] == [Kind.EXP] and not _SQUARES.isdisjoint(case.makers(0, 3)[:1]):
        return _collapsed(case, seen)
    if makers[:1] == [Kind.SUBTRACT] and any(maker in _DECOMPOSITIONS for maker in makers):
        text = f"two eigenvalues are equal, and their difference, 0, is the divisor: {zeros}"
        return Cause("repeated_eigenvalues", text, seen, _without_pairs(case))
    if case.op.kind == Kind.DIVIDE and is_softmax(case):
        return _empty_softmax(case, zeros, seen)
    if lost_epsilon(case):
        text = f"the epsilon in the denominator is 0 in float16: {zeros}"
        words = "compute this in float32, or use an epsilon of 1e-4 or more (the smallest float16 is 6e-8)"
        fix = propose(f.divide, samples_of(case, 0, 1), Proposal(words, f.divide_plus(1e-4)))
        return Cause("half_underflow", text, seen, fix)
    if is_nan and below.elements == 1 and makers[:1] == [Kind.SUM] and _counts(case):
        text = "a mean over nothing: the mask in the denominator selects no element, so this is 0/0"
        return Cause("empty_reduction", text, seen, _guarded(case))
    name, what = ("zero_over_zero", "0/0") if is_nan else ("div_by_zero", "division by zero")
    return Cause(name, f"{what}: in the denominator {zeros}", (*seen, *_why_zero(makers)), _guarded(case, makers))


def _empty_softmax(case: Case, zeros: str, seen: tuple[str, ...]) -> Cause:
    exponential = next(iter(case.chain(0, 3)), None)
    x = exponential.input(0) if exponential is not None else None
    low = x.min if x is not None else None
    why = f"the exponents go down to {number(low)}; " if low is not None else ""
    evidence = (
        *seen,
        f"this is a hand-written softmax, and in such a row every exponential is 0: {why}what is subtracted "
        "first, if anything, is not the largest of that row",
    )
    samples = None
    if x is not None and low is not None:
        row: f.Array = np.array([[low, low]], numpy_type(x.dtype))
        samples = Samples((row,), f"a row of two exponents of {number(low)}")
    return Cause("zero_over_zero", f"0/0: in the denominator {zeros}", evidence, stable_softmax(case, case, samples))


def _without_pairs(case: Case) -> Fix | None:
    words = (
        f"leave out pairs of equal eigenvalues ({case.dialect.says('divide_no_nan')} gives 0 there), or add a small "
        "random diagonal to the matrix, so that none are equal"
    )
    return propose(f.divide, samples_of(case, 0, 1), Proposal(words, f.divide_no_nan, _quotient_or_zero(case)))


def _quotient_or_zero(case: Case) -> str:
    return code(case, division, case.dialect.write("divide_no_nan", "{0}", "{1}"))


def _counts(case: Case) -> bool:
    chain = list(case.chain(1, 3))
    if len(chain) > 1 and chain[1].op.kind in _TELL_APART:
        return True
    return bool(chain) and any(fact.op.kind == Kind.CAST for fact in chain[0].inputs[:1])


def lost_epsilon(case: Case, index: int = 1) -> bool:
    """float16, and among the ops behind an input one that adds a constant which is 0 there."""
    if case.dtype != DType.FLOAT16:
        return False
    for made in case.chain(index, 4):
        if made.op.kind in (Kind.ADD, Kind.MAXIMUM):
            zeros = [x for x in made.inputs if x.row.max == 0]
            return any(x.is_given or (x.row.elements == 1 and x.op.kind in _CONSTANTS) for x in zeros)
    return False


def _why_zero(makers: list[Kind]) -> tuple[str, ...]:
    if makers[:2] == [Kind.SQRT, Kind.SUM]:
        return ("the denominator is a norm: the vector is 0",)
    if makers[:2] == [Kind.SQRT, Kind.MEAN]:
        return ("the denominator is a standard deviation: there all values are equal",)
    return ()


def _collapsed(case: Case, seen: tuple[str, ...]) -> Cause:
    exponents = next(iter(case.chain(1, 1)), None)
    x = exponents.input(0) if exponents else None
    low = f"exp({number(x.min)}) " if x is not None and x.min is not None else "the exponential "
    text = f"a squared error divided by a variance of exactly 0: {low}is 0"
    samples = Samples((np.array([-100.0, 1.0], np.float32),), "log-variances -100 and 1")
    if x is not None and x.min is not None and x.max is not None:
        samples = Samples((np.array([x.min, x.max], np.float32),), "the recorded smallest and largest log-variance")
    before = f.then(f.exp, f.reciprocal)
    after = f.then(f.clip(-10.0, 10.0), f.exp, f.reciprocal)
    fix = propose(before, samples, Proposal("clip the log-variance, to [-10, 10] say, before the exponential", after))
    return Cause("variance_collapse", text, seen, fix)


def _guarded(case: Case, makers: Sequence[Kind] = ()) -> Fix | None:
    samples, says = samples_of(case, 0, 1), case.dialect.says
    no_nan = says("divide_no_nan")
    text = f"{no_nan} gives 0 there, and a gradient of 0"
    if list(makers[:2]) == [Kind.SQRT, Kind.SUM]:
        norm = says("l2_normalize", "x", case.dialect.axis_names[0])
        text = f"use {norm}, which has an epsilon; or {no_nan}, which gives 0 there"
    after = _FOLLOWING.get(case.read_by[0].op.kind) if len(case.read_by) == 1 else None
    if after is not None:  # a quotient of 0 may be as bad for what reads it
        zero = Proposal(text, f.then(f.divide_no_nan, after), _quotient_or_zero(case))
        proposals = zero, _bounded(case, after), _quotient_above_zero(case, after)
        return propose(f.then(f.divide, after), samples, *proposals)
    zero = Proposal(text, f.divide_no_nan, _quotient_or_zero(case))
    return propose(f.divide, samples, zero, _bounded(case, f.same))


def _bounded(case: Case, after: f.Formula) -> Proposal:
    bound = tiny(case)
    below = case.dialect.write("maximum", "{1}", bound)
    changed = code(case, division, below and f"{{0.operand}} / {below.operand}")
    formula = f.then(f.divide_at_least(float(bound)), after)
    return Proposal(f"bound the denominator from below (by {bound})", formula, changed)


def _quotient_above_zero(case: Case, after: f.Formula) -> Proposal:
    """For what takes a root or a log of the quotient, where 0 is as bad."""
    bound, write = tiny_square(case.read_by[0]), case.dialect.write
    changed = code(case, division, write("maximum", write("divide_no_nan", "{0}", "{1}"), bound))
    no_nan = case.dialect.says("divide_no_nan")
    text = f"{no_nan} gives 0 there; bound that from below (by {bound}) for the {case.read_by[0].op.type}"
    return Proposal(text, f.then(f.divide_no_nan, f.at_least(float(bound)), after), changed)


def _too_large(case: Case, above: Row | None, below: Row | None) -> Cause | None:
    """No zero, but a denominator so small that the quotient leaves the range."""
    if above is None or below is None or below.min is None or case.row.nan or case.row.zero == case.row.elements:
        return None
    smallest = min((abs(v) for v in (below.min, below.max or 0.0) if v), default=0.0)
    text = f"the quotient is larger than {case.row.label} can hold: the denominator is as small as {smallest:.4g}"
    bounded = Proposal("bound the denominator from below", f.divide_at_least(1e-7))
    fix = propose(f.divide, samples_of(case, 0, 1), bounded)
    return Cause("div_by_zero", text, at_element(case, "{0} / {1}", 1), fix) if smallest < 1e-4 else None


@rule(Kind.RECIPROCAL)
def reciprocal_of_zero(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or not x.zero:
        return None
    changed = code(case, call(Kind.RECIPROCAL), case.dialect.write("reciprocal_no_nan", "{0}"))

    def no_nan(x: np.ndarray) -> tuple[np.ndarray, f.Pullback]:
        y, back = f.divide_no_nan(np.ones_like(x), x)
        return y, lambda g: (back(g)[1],)

    words = f"{case.dialect.says('reciprocal_no_nan')} gives 0 there"
    fix = propose(f.reciprocal, samples_of(case, 0), Proposal(words, no_nan, changed))
    return Cause("div_by_zero", f"1/0: {share(x.zero, x.elements, 'exactly 0')}", at_element(case, "1 / {0}"), fix)


@rule(Kind.MODULO, Kind.FLOOR_DIVIDE, Kind.TRUNCATE_DIVIDE)
def zero_modulus(case: Case) -> Cause | None:
    below = case.input(1)
    if below is None or not below.zero:
        return None
    text = f"{case.op.type} by 0: {share(below.zero, below.elements, 'exactly 0')}"
    words = f"keep zeros out of the divisor: {case.dialect.says('where', 'b == 0', '1', 'b')}"
    fix = propose(f.floor_mod, samples_of(case, 0, 1), Proposal(words, _nonzero(f.floor_mod)))
    return Cause("div_by_zero", text, at_element(case, "{0} mod {1}", 1), fix)


def _nonzero(formula: f.Formula) -> f.Formula:
    def run(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, f.Pullback]:
        zero = b == 0
        y, pull = formula(a, np.where(zero, b.dtype.type(1), b))
        return y, lambda g: (pull(g)[0], np.where(zero, 0 * g, pull(g)[1]))

    return run
