"""Results that are larger than their type can hold."""

from __future__ import annotations

from tdbg.model import DType, Phase
from tdbg.query import formulas as f
from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, propose
from tdbg.query.causes.wording import at_element, in_wide
from tdbg.query.rows import Row
from tdbg.query.trial import samples_of

LARGEST = {
    DType.FLOAT16: 65504.0,
    DType.BFLOAT16: 3.39e38,
    DType.FLOAT32: 3.4e38,
    DType.FLOAT64: 1.79e308,
    DType.FLOAT8_E4M3FN: 448.0,
    DType.FLOAT8_E5M2: 57344.0,
    DType.FLOAT8_E4M3FNUZ: 240.0,
    DType.FLOAT8_E4M3B11FNUZ: 30.0,
    DType.FLOAT8_E5M2FNUZ: 57344.0,
}
_PRODUCTS: tuple[str, ...] = (
    "Mul",
    "MatMul",
    "BatchMatMulV2",
    "BatchMatMulV3",
    "Square",
    "SquaredDifference",
    "Pow",
    "Prod",
    "Cumprod",
)
_PRODUCTS += ("Conv2D", "Conv1D", "Conv3D", "DepthwiseConv2dNative", "Einsum", "Conv2DBackpropInput")
_PRODUCTS += ("Conv2DBackpropFilter", "L2Loss")
_SUMS = ("Sum", "AddV2", "Add", "AddN", "BiasAdd", "Sub", "Mean", "Cumsum", "UnsortedSegmentSum", "BiasAddGrad")


def _size(row: Row) -> float:
    return max(abs(row.min or 0.0), abs(row.max or 0.0))


def _in_float32(case: Case, rows: list[Row]) -> Fix | None:
    words = "compute this in float32 or bfloat16, or scale the values down"
    formula = {"Mul": f.product, "Square": f.square}.get(case.op.type)
    if formula is None or len(rows) != (2 if formula is f.product else 1):
        return Fix(words)
    return propose(formula, samples_of(case, *range(len(rows))), Proposal(words, f.widened(formula)))


@rule("Cast")
def too_large_for_type(case: Case) -> Cause | None:
    x, largest = case.input(0), LARGEST.get(case.dtype)
    if x is None or x.max is None or largest is None or _size(x) <= largest:
        return None
    kind = case.row.label
    text = f"{_size(x):.4g} does not fit into {kind}, whose largest number is {largest:g}"
    if kind.startswith("float8"):
        fix = Fix(f"scale the tensor by {largest:g} / max|x| before the cast, and back after it")
        return Cause("fp8_saturation", text, at_element(case, f"{kind}({{0}})"), fix)
    wide = "bfloat16 or float32" if kind == "float16" else "float32" if kind != "float32" else "float64"
    return Cause("cast_overflow", text, at_element(case, f"{kind}({{0}})"), Fix(f"keep this value in {wide}"))


@rule(*_PRODUCTS, *_SUMS, "ReciprocalGrad", "InvGrad", "RsqrtGrad")
def too_large(case: Case) -> Cause | None:
    out = case.row
    rows = [fact.row for fact in case.inputs if fact.row.max is not None and DType(fact.row.dtype).is_floating]
    sizes = [_size(row) for row in rows]
    if out.nan or not (out.pos_inf or out.neg_inf) or not sizes:
        return None
    evidence = in_wide(case)
    if case.dtype == DType.FLOAT16:
        text = (
            f"the result of {case.op.type} is larger than 65,504, the largest float16 (inputs up to {max(sizes):.4g})"
        )
        return Cause("half_overflow", text, evidence, _in_float32(case, rows))
    limit = LARGEST.get(case.dtype, 3.4e38)
    if case.op.type in _SUMS:
        if max(sizes) < limit * 1e-9:
            return None
        text = f"the sum is larger than {out.label} can hold (terms up to {max(sizes):.4g})"
        return Cause("sum_overflow", text, evidence, Fix("scale the terms down first, or a mean instead of a sum"))
    if max(sizes) < limit**0.25:
        return None
    by = " by ".join(f"{size:.4g}" for size in sizes[:2])
    text = f"the product is larger than {out.label} can hold ({case.op.type} of numbers up to {by})"
    if case.op.phase == Phase.UPDATE:
        return Cause("mul_overflow", f"{text}, in the optimizer's update", evidence, Fix("a smaller learning rate"))
    fix = Fix(
        "look for values that grow from step to step: a smaller learning rate, gradient clipping, normalised inputs"
    )
    return Cause("mul_overflow", text, evidence, fix)
