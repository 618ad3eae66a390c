"""What an optimizer, a clipping of gradients or a batch normalisation does to good numbers."""

from __future__ import annotations

from tdbg.model import DType, Phase
from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, propose
from tdbg.query.causes.wording import share
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes import sum_formulas as s
from tdbg.query.fixes.trial import samples_of
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_LARGEST_SQUARED = {DType.FLOAT16: 255.0, DType.FLOAT64: 1.3e154}  # float32 and bfloat16: 1.8e19
_NOT_THE_GRADIENT = (Kind.VARIABLE, Kind.READ, Kind.CONSTANT)  # of what an optimizer is given
_DIVIDES = (Kind.DIVIDE, Kind.RSQRT, Kind.RECIPROCAL)


@rule(*_DIVIDES)
def epsilon_underflow(case: Case) -> Cause | None:
    below = case.inputs[-1].row if case.inputs else None
    if case.op.phase != Phase.UPDATE or below is None or not below.zero:
        return None
    kind = case.row.label
    why = "the epsilon rounds to 0 in float16" if case.dtype == DType.FLOAT16 else "the epsilon is 0"
    reason = (
        f"the optimizer divides by a second moment of 0, and {why}: {share(below.zero, below.elements, 'exactly 0')}"
    )
    smallest = "1e-4" if case.dtype == DType.FLOAT16 else "1e-7"
    wider = "; or {keep_the_weights_in_float32}" if kind == "float16" else ""
    words = case.dialect.fill(f"use {{epsilon}}={smallest} or more in the optimizer{wider}")
    return Cause("adam_eps_underflow", reason, fix=_larger_epsilon(case, words, float(smallest)))


def _larger_epsilon(case: Case, words: str, epsilon: float) -> Fix | None:
    if case.op.kind == Kind.DIVIDE:
        return propose(f.divide, samples_of(case, 0, 1), Proposal(words, f.divide_plus(epsilon)))
    formula = f.rsqrt if case.op.kind == Kind.RSQRT else f.reciprocal
    return propose(formula, samples_of(case, 0), Proposal(words, f.then(f.plus(epsilon), formula)))


@rule(Kind.SQUARE, Kind.MULTIPLY)
def second_moment(case: Case) -> Cause | None:
    """An optimizer that is made of ops squares a gradient."""
    largest = max((_largest(x.row.min, x.row.max) for x in case.inputs), default=0.0)
    is_square = case.op.kind == Kind.SQUARE or len(case.inputs) == 1
    if case.op.phase != Phase.UPDATE or not is_square or case.row.nan or largest <= _bound(case):
        return None
    if not case.stack_has(case.dialect.signs.optimizers) or case.stack_has(case.dialect.signs.clipping):
        return None
    return _overflow(case, largest, f.square if case.op.kind == Kind.SQUARE else None)


@rule(first=True)
def second_moment_in_kernel(case: Case) -> Cause | None:
    """An optimizer that is one op squares a gradient inside; only the variables that it leaves can be seen."""
    if case.op.kind != Kind.READ:
        return None
    name = case.program.variable_of(case.op)
    for op in case.program.ops.values():
        if op.kind != Kind.ADAPTIVE_UPDATE or name not in {case.program.input_name(op, at) for at in range(3)}:
            continue
        given = [(at, case.program.ops[maker]) for at, (maker, _) in enumerate(op.inputs)]
        largest = max((case.largest_before(op, at) for at, x in given if x.kind not in _NOT_THE_GRADIENT), default=0.0)
        if largest > _bound(case):
            return _overflow(case, largest, None)
    return None


def _bound(case: Case) -> float:
    return _LARGEST_SQUARED.get(case.dtype, 1.84e19)


def _largest(least: float | None, greatest: float | None) -> float:
    return max(abs(least or 0.0), abs(greatest or 0.0))


def _overflow(case: Case, largest: float, formula: f.Formula | None) -> Cause:
    reason = (
        f"the optimizer squares the gradients for its second moment, and the square of {largest:.4g} is larger than "
        f"{case.row.label} can hold"
    )
    words = case.dialect.fill("make the loss smaller (a mean instead of a sum, scaled data), or {clip_the_gradients}")
    if formula is None:
        return Cause("second_moment_overflow", reason, fix=Fix(words))
    clipped = Proposal(words, f.then(f.clip(-1.0, 1.0), formula))
    return Cause("second_moment_overflow", reason, fix=propose(formula, samples_of(case, 0), clipped))


@rule(Kind.HALF_SQUARES, Kind.SUM, Kind.SQUARE, Kind.MULTIPLY, Kind.ADD_N, Kind.SQRT)
def clipping(case: Case) -> Cause | None:
    if not case.stack_has(case.dialect.signs.clipping):
        return None
    largest = max((max(abs(x.row.min or 0), abs(x.row.max or 0)) for x in case.inputs), default=0.0)
    reason = (
        f"the norm of the gradients overflows {case.row.label} (elements up to {largest:.4g}), "
        "and clipping by an infinite norm makes every gradient NaN"
    )
    return Cause("gradient_clip_contamination", reason, fix=_clipped(case))


def _clipped(case: Case) -> Fix | None:
    words = "make the loss or its scale smaller, or clip each gradient by value before clipping by the global norm"
    formula = {Kind.HALF_SQUARES: s.half_of_squares, Kind.SQUARE: f.square}.get(case.op.kind)
    if formula is None:
        return Fix(words)
    bound = 100.0 if case.dtype == DType.FLOAT16 else 1e6
    return propose(formula, samples_of(case, 0), Proposal(words, f.then(f.clip(-bound, bound), formula)))


@rule(Kind.READ, Kind.BATCH_NORM)
def moving_statistics(case: Case) -> Cause | None:
    name = case.program.variable_of(case.op) if case.op.kind == Kind.READ else ""
    if not case.dialect.signs.moving_statistics.search(name) or case.row.step == 0:
        return None
    reason = f"the moving statistics {name} of a batch normalisation took in a bad batch, and stay bad from then on"
    fix = Fix("restore them from before that batch, and keep bad batches out (look at the steps before)")
    return Cause("batchnorm_poisoned", reason, fix=fix)
