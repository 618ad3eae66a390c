"""The op where bad values began and the numbers of its inputs in; the cause's name, its reason and a remedy out.

Only what the numbers prove is said; anything else is ``unknown``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from tdbg.model import DType
from tdbg.query.program import Op
from tdbg.query.rows import Row

LARGEST = {DType.FLOAT16: 65504.0, DType.BFLOAT16: 3.39e38, DType.FLOAT32: 3.4e38, DType.FLOAT64: 1.79e308}


class Cause(NamedTuple):
    name: str
    reason: str
    fix: str


UNKNOWN = Cause("unknown", "its inputs are finite and its output is not", "")

Rule = Callable[[Op, Row, Sequence[Row]], Cause | None]


def _zeros(row: Row) -> str:
    return f"{row.zero:,} of {row.elements:,} elements are exactly 0"


def _log(op: Op, out: Row, inputs: Sequence[Row]) -> Cause | None:
    x = inputs[0] if inputs else None
    if op.type != "Log" or x is None or x.zero is None:
        return None
    if x.negative:
        return Cause(
            "log_of_negative",
            f"log of a negative number ({x.negative:,} of {x.elements:,})",
            "check the sign of the input",
        )
    if x.zero:
        return Cause(
            "log_of_zero", f"log(0): {_zeros(x)}", "clip the input before the log, or use a loss that takes logits"
        )
    return None


def _division(op: Op, out: Row, inputs: Sequence[Row]) -> Cause | None:
    if op.type not in ("RealDiv", "Div", "Reciprocal", "Inv", "Xdivy") or not inputs:
        return None
    below = inputs[-1]
    if not below.zero:
        return None
    if out.nan:
        return Cause(
            "zero_over_zero", f"0/0: in the denominator {_zeros(below)}", "tf.math.divide_no_nan, or add an epsilon"
        )
    return Cause("div_by_zero", f"division by zero: {_zeros(below)}", "tf.math.divide_no_nan, or add an epsilon")


def _root(op: Op, out: Row, inputs: Sequence[Row]) -> Cause | None:
    x = inputs[0] if inputs else None
    if x is None or x.zero is None:
        return None
    if op.type in ("Sqrt", "Rsqrt", "Log1p") and x.negative and out.nan:
        return Cause(
            "sqrt_of_negative",
            f"{op.type.lower()} of a negative number ({x.negative:,} of {x.elements:,})",
            "clamp the input to ≥ 0",
        )
    if op.type == "Rsqrt" and x.zero:
        return Cause("rsqrt_of_zero", f"1/sqrt(0): {_zeros(x)}", "add an epsilon inside the root")
    if op.type in ("SqrtGrad", "RsqrtGrad") and x.zero:
        return Cause("sqrt_at_zero", f"the slope of sqrt at 0 is infinite: {_zeros(x)}", "sqrt(x + epsilon)")
    return None


def _overflow(op: Op, out: Row, inputs: Sequence[Row]) -> Cause | None:
    largest = max((max(abs(x.min or 0.0), abs(x.max or 0.0)) for x in inputs if x.max is not None), default=0.0)
    if op.type in ("Exp", "Expm1") and inputs and inputs[0].max is not None and out.pos_inf:
        return Cause(
            "exp_overflow",
            f"exp({inputs[0].max:.4g}) is larger than {out.label} can hold",
            "subtract the maximum first, or stay in log space",
        )
    if out.nan or not (out.pos_inf or out.neg_inf):
        return None
    if op.type == "Cast" and largest > LARGEST.get(DType(out.dtype), float("inf")):
        return Cause("cast_overflow", f"{largest:.4g} does not fit into {out.label}", "keep this value in float32")
    if out.dtype == DType.FLOAT16 and op.type in (
        "Mul",
        "MatMul",
        "BatchMatMulV2",
        "Square",
        "Sum",
        "AddV2",
        "Pow",
        "Conv2D",
        "SquaredDifference",
    ):
        return Cause(
            "half_overflow",
            f"the result is larger than 65,504, the largest float16 (inputs up to {largest:.4g})",
            "compute this in float32, or scale the values down",
        )
    if op.type in ("Mul", "MatMul", "BatchMatMulV2", "Square", "Pow") and largest > 1e10:
        return Cause(
            "mul_overflow",
            f"the result is larger than {out.label} can hold (inputs up to {largest:.4g})",
            "look for values that grow from step to step",
        )
    return None


RULES: tuple[Rule, ...] = (_log, _division, _root, _overflow)


def find_cause(op: Op, out: Row, inputs: Sequence[Row]) -> Cause:
    for rule in RULES:
        cause = rule(op, out, inputs)
        if cause is not None:
            return cause
    return UNKNOWN
