"""Logarithms of what has none."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from tdbg.model import DType
from tdbg.query.causes import Cause, Fix, rule, slope_rule
from tdbg.query.causes.proposals import Proposal, code, propose, tiny
from tdbg.query.causes.softmax import is_softmax
from tdbg.query.causes.wording import at_element, lost_beside_one, number, share
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes import softmax_by_hand as hand
from tdbg.query.fixes.finders import (
    argument_of,
    call_of_call,
    call_of_one_minus,
    log_of,
    second_argument_of,
    times_own_log,
)
from tdbg.query.fixes.trial import Samples, samples_of
from tdbg.query.trace.program import short_path
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_GAP = Samples((np.array([[0.0, -200.0]], np.float32),), "logits 0 and -200, whose softmax has such a 0")
_LOW = Samples((np.array([-200.0], np.float32),), "a logit of -200, whose sigmoid is such a 0")
_HIGH = Samples((np.array([40.0], np.float32),), "a logit of 40, whose sigmoid is exactly 1")

# From which distance on the type has exactly 0, or 1, for an exponential or a sigmoid (subnormal numbers count as 0).
_ZERO_BELOW = defaultdict(lambda: "87", {DType.FLOAT16: "16", DType.FLOAT64: "708"})
_ONE_FROM = defaultdict(lambda: "17", {DType.FLOAT16: "8", DType.FLOAT64: "37", DType.BFLOAT16: "6"})
_POSITIVE = "compute it with softplus or exp: both keep it positive and keep the gradient"
_BETWEEN = (
    Kind.GATHER, Kind.GATHER_ND, Kind.STRIDED_SLICE, Kind.SLICE, Kind.CLIP, Kind.MINIMUM, Kind.MAXIMUM, Kind.CAST,
)  # fmt: skip


@rule(Kind.LOG)
def log_domain(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or x.zero is None:
        return None
    if x.negative and (case.row.nan or not x.zero):
        text = f"log of a negative number: {share(x.negative, x.elements, f'negative (down to {number(x.min or 0)})')}"
        return Cause("log_of_negative", text, at_element(case, "log({0})"), _positive(case))
    if not x.zero:
        return None
    text = f"log(0): {share(x.zero, x.elements, 'exactly 0')}"
    return Cause("log_of_zero", text, (*at_element(case, "log({0})"), *_why_zero(case)), _clamped(case))


@slope_rule(Kind.LOG)
def log_slope(case: Case) -> Cause | None:
    x = case.input(0) if case.op.kind == Kind.RECIPROCAL else None
    if x is None or not x.zero:
        return None
    text = f"the gradient of log(x) is 1/x, and {share(x.zero, x.elements, 'exactly 0')}"
    return Cause("log_of_zero", text, at_element(case, "1/{0}"), _clamped(case))


def _why_zero(case: Case) -> tuple[str, ...]:
    lost = lost_beside_one(case)
    if lost:
        return (lost,)
    probability = _probability(case)
    if probability is not None and probability.name == "softmax":
        below = _ZERO_BELOW[case.dtype]
        return (f"a softmax gives exactly 0 where a logit lies more than {below} below the largest ({case.row.label})",)
    if probability is not None and probability.is_complement:
        return (f"1 - sigmoid(x) is exactly 0 from x = {_ONE_FROM[case.dtype]} on ({case.row.label})",)
    if case.makers(0, 3)[:2] == [Kind.SUM, Kind.EXP]:
        return ("the log of a sum of exponentials that are all 0: every term was -inf, or far below the largest",)
    return ()


@dataclass(frozen=True, slots=True)
class _Probability:
    """What a log is taken of: the op that made probabilities of logits, and whether it is their complement."""

    made: Case
    name: str  # softmax, hand-written softmax or sigmoid
    is_complement: bool = False

    def better(self) -> str:
        """The function that takes logits, and which logits these are."""
        where = f" ({short_path(self.made.frame.file)}:{self.made.frame.line})" if self.made.frame else ""
        says = self.made.dialect.says
        function, equals = says("softmax_cross_entropy"), f" or {says('log_softmax')}"
        if self.name == "sigmoid":
            function = says("sigmoid_cross_entropy")
            equals = f" or {says('log_sigmoid')}" if not self.is_complement else ""
        why = ", as log(1 - sigmoid(x)) is log_sigmoid(-x)" if self.is_complement else ""
        return f"best, because it keeps the gradient: {function}{equals} of the input of the {self.name}{where}{why}"

    def in_short(self) -> str:
        dialect, logits = self.made.dialect, "-x" if self.is_complement else "x"
        if self.name == "sigmoid":
            return f"{dialect.says('log_sigmoid', logits)} keeps the gradient (x: the input of the sigmoid)"
        return f"{dialect.says('log_softmax', 'x', '')} keeps the gradient (x: the input of the softmax)"


def _probability(case: Case) -> _Probability | None:
    is_complement = False
    for made in case.chain(0, 6):
        kind = made.op.kind
        if kind == Kind.SOFTMAX:
            return _Probability(made, "softmax")
        if kind == Kind.SIGMOID:
            return _Probability(made, "sigmoid", is_complement)
        if kind == Kind.DIVIDE and is_softmax(made):
            return _Probability(made, "hand-written softmax")
        if kind == Kind.SUBTRACT and made.carried == 1 and not is_complement:
            is_complement = True
        elif kind not in _BETWEEN and not _adds_constant(made):
            return None
    return None


def _adds_constant(made: Case) -> bool:
    return made.op.kind == Kind.ADD and any(x.op.kind == Kind.CONSTANT for x in made.inputs)


def _clamped(case: Case) -> Fix | None:
    probability, bound = _probability(case), tiny(case)
    text = "bound the input of the log from below"
    if probability is not None:
        text = f"{probability.better()}; or bound the input of the log from below, finite but without a gradient"
    better = probability.in_short() if probability is not None else ""
    bounded = Proposal(text, f.then(f.at_least(float(bound)), f.log), _with_bound(case, bound), better=better)
    return propose(f.log, samples_of(case, 0), *_in_one(case), bounded)


def _with_bound(case: Case, bound: str) -> str:
    return code(case, argument_of(Kind.LOG), case.dialect.write("maximum", "{0}", bound))


def _in_one(case: Case) -> list[Proposal]:
    """One function for the log and what it is taken of, where the statement shows both."""
    write, log = case.dialect.write, Kind.LOG
    softmax, sigmoid = write("log_softmax", "{0}", "{1}"), write("log_sigmoid", "{0}")
    turned = write("log_sigmoid", "-({0})")
    known = [
        Proposal(
            "log_softmax computes both in one step and does not underflow", f.log_softmax,
            code(case, call_of_call(log, Kind.SOFTMAX), softmax), _GAP, f.then(f.softmax, f.log),
        ),
        Proposal(
            "log_softmax computes it all in one step and does not underflow", f.log_softmax,
            code(case, log_of(hand.quotient), softmax), _GAP, f.then(f.plain_softmax, f.log),
        ),
        Proposal(
            "log(1 - sigmoid(x)) is log_sigmoid(-x), which does not underflow", f.then(f.negative, f.log_sigmoid),
            code(case, call_of_one_minus(log, Kind.SIGMOID), turned), _HIGH, f.then(f.sigmoid, f.one_minus, f.log),
        ),
        Proposal(
            "log_sigmoid computes both in one step and does not underflow", f.log_sigmoid,
            code(case, call_of_call(log, Kind.SIGMOID), sigmoid), _LOW, f.then(f.sigmoid, f.log),
        ),
        Proposal(
            "xlogy(x, x) is 0 at 0, and so is its gradient", f.xlogx,
            code(case, times_own_log, write("xlogy", "{0}", "{0}")), before=f.x_log_x,
        ),
    ]  # fmt: skip
    return [proposal for proposal in known if proposal.code]


def _positive(case: Case) -> Fix | None:
    bound = tiny(case)
    text = "nothing keeps this positive: compute it with softplus or exp, or bound it from below here"
    after = f.then(f.at_least(float(bound)), f.log)
    return propose(f.log, samples_of(case, 0), Proposal(text, after, _with_bound(case, bound), better=_POSITIVE))


@rule(Kind.LOG1P)
def log1p_domain(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or x.min is None or x.min > -1:
        return None
    name = "log_of_zero" if x.min == -1 else "log_of_negative"
    text = f"log1p({number(x.min)}): its input must be above -1"
    return Cause(name, text, at_element(case, "log1p({0})"), _above(case))


@slope_rule(Kind.LOG1P)
def log1p_slope(case: Case) -> Cause | None:
    x = case.input(0)
    if x is None or not x.zero:
        return None
    text = "the gradient of log1p(x) is 1/(1 + x), and x is -1"
    return Cause("log_of_zero", text, fix=_above(case.forward_case or case))


def _above(case: Case) -> Fix | None:
    changed = code(case, argument_of(Kind.LOG1P), case.dialect.write("maximum", "{0}", "-0.999999"))
    after = f.then(f.at_least(-0.999999), f.log1p)
    return propose(f.log1p, samples_of(case, 0), Proposal("bound the input of log1p from below", after, changed))


@rule(Kind.XLOGY, Kind.XLOG1PY)
def xlogy_domain(case: Case) -> Cause | None:
    y = case.input(1)
    edge = 0.0 if case.op.kind == Kind.XLOGY else -1.0
    if y is None or y.min is None or y.min > edge:
        return None
    name = "log_of_negative" if y.min < edge else "log_of_zero"
    text = f"{case.op.kind.value}: the log of {number(y.min)}"
    return Cause(name, text, at_element(case, "{0} * log({1})", 1), _second_bounded(case))


def _second_bounded(case: Case) -> Fix | None:
    is_plain = case.op.kind == Kind.XLOGY
    bound = tiny(case) if is_plain else "-0.999999"
    formula = f.xlogy if is_plain else f.xlog1py
    changed = code(case, second_argument_of(case.op.kind), case.dialect.write("maximum", "{1}", bound))
    after = f.second_at_least(formula, float(bound))
    return propose(formula, samples_of(case, 0, 1), Proposal("bound its second input from below", after, changed))
