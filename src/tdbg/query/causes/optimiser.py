"""What an optimizer, a clipping of gradients or a batch normalisation does to good numbers."""

from __future__ import annotations

from tdbg.model import DType, Phase
from tdbg.query import formulas as f
from tdbg.query import sum_formulas as s
from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, propose
from tdbg.query.causes.wording import share
from tdbg.query.trial import samples_of

_CLIPS = ("clip_by_global_norm", "global_norm", "clip_by_norm")
_DIVIDES = ("RealDiv", "Div", "Rsqrt", "Reciprocal")


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
    wider = "; or keep the weights in float32 (policy mixed_float16)" if kind == "float16" else ""
    words = f"epsilon={smallest} or more in the optimizer{wider}"
    return Cause("adam_eps_underflow", reason, fix=_larger_epsilon(case, words, float(smallest)))


def _larger_epsilon(case: Case, words: str, epsilon: float) -> Fix | None:
    if case.op.type in ("RealDiv", "Div"):
        return propose(f.divide, samples_of(case, 0, 1), Proposal(words, f.divide_plus(epsilon)))
    formula = {"Rsqrt": f.rsqrt, "Reciprocal": f.reciprocal}[case.op.type]
    return propose(formula, samples_of(case, 0), Proposal(words, f.then(f.plus(epsilon), formula)))


@rule("L2Loss", "Sum", "Square", "Mul", "AddN", "Sqrt")
def clipping(case: Case) -> Cause | None:
    if not any(map(case.stack_has, _CLIPS)):
        return None
    largest = max((max(abs(x.row.min or 0), abs(x.row.max or 0)) for x in case.inputs), default=0.0)
    reason = (
        f"the norm of the gradients overflows {case.row.label} (elements up to {largest:.4g}), "
        "and clipping by an infinite norm makes every gradient NaN"
    )
    return Cause("gradient_clip_contamination", reason, fix=_clipped(case))


def _clipped(case: Case) -> Fix | None:
    words = "make the loss or its scale smaller, or clip each gradient by value before clipping by the global norm"
    formula = {"L2Loss": s.half_of_squares, "Square": f.square}.get(case.op.type)
    if formula is None:
        return Fix(words)
    bound = 100.0 if case.dtype == DType.FLOAT16 else 1e6
    return propose(formula, samples_of(case, 0), Proposal(words, f.then(f.clip(-bound, bound), formula)))


@rule("ReadVariableOp", "FusedBatchNormV3")
def moving_statistics(case: Case) -> Cause | None:
    name = case.program.variable_of(case.op) if case.op.type == "ReadVariableOp" else ""
    if "moving_" not in name or case.row.step == 0:
        return None
    reason = f"the moving statistics {name} of a batch normalisation took in a bad batch, and stay bad from then on"
    fix = Fix("restore them from before that batch, and keep bad batches out (look at the steps before)")
    return Cause("batchnorm_poisoned", reason, fix=fix)
