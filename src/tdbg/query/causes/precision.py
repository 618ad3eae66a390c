"""Results that are larger than their type can hold."""

from __future__ import annotations

import itertools
import json
import math

import numpy as np

from tdbg.model import DType, Phase
from tdbg.query.causes import Cause, Fix, rule
from tdbg.query.causes.proposals import Proposal, code, propose, tiny
from tdbg.query.causes.wording import at_element, in_wide
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes import sum_formulas as s
from tdbg.query.fixes.finders import argument_of, type_of_cast
from tdbg.query.fixes.trial import Samples, numpy_type, samples_of
from tdbg.query.trace.program import short_path
from tdbg.query.trace.rows import Row
from tdbg.query.verdict.case import Case, InputFact
from tdbg.vocabulary import ADDITIONS, ENTRANCES, FUSED, PRODUCTS, Kind

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
_CONTRACTIONS = PRODUCTS | FUSED.keys()
_PRODUCTS = _CONTRACTIONS | {
    Kind.MULTIPLY, Kind.SQUARE, Kind.SQUARED_DIFFERENCE, Kind.POWER, Kind.PRODUCT, Kind.CUMPROD, Kind.CONVOLVE_GRADIENT,
    Kind.FILTER_GRADIENT, Kind.HALF_SQUARES,
}  # fmt: skip
_SUMS = ADDITIONS | {
    Kind.SUM, Kind.ADD_N, Kind.SUBTRACT, Kind.MEAN, Kind.CUMSUM, Kind.SEGMENT_SUM, Kind.BIAS_GRADIENT,
}  # fmt: skip
_SLOPES = {Kind.RECIPROCAL_GRADIENT, Kind.RSQRT_GRADIENT}
# Of all of one input, when there is no axis.
_WHOLE = (
    Kind.SUM, Kind.MEAN, Kind.HALF_SQUARES, Kind.PRODUCT, Kind.ADD_N, Kind.CUMSUM, Kind.BIAS_GRADIENT,
)  # fmt: skip
_ELEMENTWISE: dict[Kind, tuple[f.Formula, int]] = {
    Kind.MULTIPLY: (s.product, 2),
    Kind.SQUARE: (f.square, 1),
    Kind.SQUARED_DIFFERENCE: (s.squared_difference, 2),
    Kind.ADD: (s.add, 2),
    Kind.ADD_BIAS: (s.add, 2),
    Kind.SUBTRACT: (s.subtract, 2),
    Kind.POWER: (f.power, 2),
}
_OF_MANY: dict[Kind, f.Formula] = dict.fromkeys(_CONTRACTIONS, s.dot) | {
    Kind.MEAN: s.mean,
    Kind.HALF_SQUARES: s.half_of_squares,
    Kind.PRODUCT: s.multiplied,
}
_RUNS, _FEWEST_RUNS = 4, 3  # that are looked at for growth


def _size(row: Row) -> float:
    return max(abs(row.min or 0.0), abs(row.max or 0.0))


@rule(Kind.MULTIPLY, Kind.DIVIDE, Kind.ADD, Kind.SUBTRACT)
def constants_first(case: Case) -> Cause | None:
    """The framework put constants of several lines together, before what the program multiplies them with."""
    together = json.loads(case.attributes).get("_together", "") if '"_together"' in case.attributes else ""
    if not together:
        return None
    does = "adds" if " + " in together else "multiplies"
    framework = case.dialect.title
    text = f"{framework} {does} the constants first, and {together} is larger than {case.row.label} can hold"
    evidence = (f"in the order in which the program has them, no bad value need arise: {framework} reorders them",)
    untried = f"what the program computes without {framework}'s reordering was not recorded"
    words = case.dialect.fill("write one constant that fits, or {switch_the_reordering_off}")
    return Cause("reordered_constants", text, evidence, Fix(words, untried=untried))


@rule(Kind.CAST)
def too_large_for_type(case: Case) -> Cause | None:
    x, largest = case.input(0), LARGEST.get(case.dtype)
    if x is None or x.max is None or largest is None or _size(x) <= largest:
        return None
    kind = case.row.label
    text = f"{_size(x):.4g} does not fit into {kind}, whose largest number is {largest:g}"
    if kind.startswith("float8"):
        fix = _scaled_cast(case, largest, _size(x))
        return Cause("fp8_saturation", text, at_element(case, f"{kind}({{0}})"), fix)
    wide = "bfloat16" if kind == "float16" else "float32" if kind == "bfloat16" else "float64"
    return Cause("cast_overflow", text, at_element(case, f"{kind}({{0}})"), _kept_wide(case, kind, wide))


def _kept_wide(case: Case, kind: str, wide: str) -> Fix | None:
    words = f"keep this value in {'bfloat16 or float32' if wide == 'bfloat16' else wide}"
    types = {"float16": np.float16, "bfloat16": np.float32, "float32": np.float32, "float64": np.float64}
    changed = code(case, type_of_cast(kind), case.dialect.write("dtype", wide))
    before, after = s.cast(types[kind]), s.cast(types[wide])
    return propose(before, samples_of(case, 0), Proposal(words, after, changed))


def _scaled_cast(case: Case, largest: float, size: float) -> Fix | None:
    words = f"scale the tensor by {largest:g} / max|x| before the cast, and back after it"
    before = s.cast(np.float32, largest)
    return propose(before, samples_of(case, 0), Proposal(words, s.scaled(before, 0.99 * largest / size)))


@rule(*_PRODUCTS, *_SUMS, *_SLOPES)
def too_large(case: Case) -> Cause | None:
    out = case.row
    rows = [fact.row for fact in case.inputs if fact.row.max is not None and DType(fact.row.dtype).is_floating]
    sizes = [_size(row) for row in rows]
    if not sizes:
        return None
    if case.dtype == DType.FLOAT16 and _leaves_half(case, rows):
        return _half_overflow(case, rows)
    if out.nan or not (out.pos_inf or out.neg_inf):
        return None
    limit = LARGEST.get(case.dtype, 3.4e38)
    is_sum = case.op.kind in _SUMS
    if max(sizes) < (limit * 1e-9 if is_sum else limit**0.25):
        return None
    sizes_before = _growth(case)
    evidence = (*in_wide(case), *([f"before that it was at most {sizes_before}"] if sizes_before else []))
    if is_sum:
        text = f"the sum is larger than {out.label} can hold (terms up to {max(sizes):.4g})"
        words = "scale the terms down first, or use a mean instead of a sum"
    else:
        by = " by ".join(f"{size:.4g}" for size in sizes[:2])
        text = f"the product is larger than {out.label} can hold ({case.op.type} of numbers up to {by})"
        words = "scale the factors down, or compute this in float64"
    name = "sum_overflow" if is_sum else "mul_overflow"
    if case.op.phase == Phase.UPDATE:
        return Cause(name, f"{text}, in the optimizer's update", evidence, Fix("use a smaller learning rate"))
    if sizes_before or case.is_backward:
        grew = "it grew with each run, until " if sizes_before else ""
        fix = _bounded_slope(case) or (_LOOP_GROWS if case.row.iteration >= 0 else _GROWS)
        return Cause(name, f"{grew}{text}", evidence, fix)
    return Cause(name, text, evidence, _wider(case, rows, words) or Fix(words))


def _leaves_half(case: Case, rows: list[Row]) -> bool:
    """An infinity; or a NaN out of finite factors, where a sum of their products can leave the range on its way."""
    if not case.row.nan:
        return bool(case.row.pos_inf or case.row.neg_inf)
    if case.op.kind not in _CONTRACTIONS or len(rows) < 2 or any(row.is_bad for row in rows):
        return False
    return _size(rows[0]) * _size(rows[1]) * max(_terms(case, rows[:2]), 1) > LARGEST[DType.FLOAT16]


def _half_overflow(case: Case, rows: list[Row]) -> Cause:
    sizes = [_size(row) for row in rows]
    passed = "a sum inside it passes 65,504, the largest float16" if case.row.nan else ""
    text = passed or "the result is larger than 65,504, the largest float16"
    words, evidence = "compute this in float32 or bfloat16, or scale the values down", in_wide(case)
    large = _large_operand(case)
    if large is None:
        text += f" (inputs up to {max(sizes):.4g})"
    else:
        fact, came = large
        text += f": input {fact.index} is large, up to {_size(fact.row):.4g}"
        evidence = (f"input {fact.index} {came}", *evidence)
        if came.startswith("is input data"):
            words = "scale the data first, to the range 0 to 1 or a mean of 0; or compute this in float32 or bfloat16"
    return Cause("half_overflow", f"{case.op.type}: {text}", evidence, _wider(case, rows, words))


def _large_operand(case: Case) -> tuple[InputFact, str] | None:
    """The input that is far larger than the others and than 1, and in words where it came from."""
    facts = [fact for fact in case.inputs if fact.row.max is not None and DType(fact.row.dtype).is_floating]
    facts.sort(key=lambda fact: _size(fact.row), reverse=True)
    if not facts or _size(facts[0].row) < 16 or (len(facts) > 1 and _size(facts[0].row) < 8 * _size(facts[1].row)):
        return None
    first = source = facts[0]
    made = case.made_by.get(first.index)
    while made is not None and made.op.kind == Kind.CAST and made.fact(0) is not None:
        source, made = made.fact(0) or source, made.made_by.get(0)
    arrives = source.op.kind in ENTRANCES or (source.made is not None and source.made.is_input)
    is_variable = source.op.kind == Kind.READ or case.is_backward
    if arrives and not is_variable:
        where = f", {short_path(source.frame.file)}:{source.frame.line}" if source.frame else ""
        return first, f"is input data, not scaled{where}"
    return first, source.came_from()


_GROWS = Fix(
    "use a smaller learning rate, gradient clipping or normalised inputs; look for values that grow from step to step"
)
_LOOP_GROWS = Fix("keep the state of the loop bounded: normalise it in each iteration, or run fewer of them")


def _growth(case: Case) -> str:
    """What this op gave in its last runs, if each was larger than the one before, up to the one that overflowed."""
    sizes = [_size(row) for row in case.earlier_rows(_RUNS) if row.max is not None]
    if len(sizes) < _FEWEST_RUNS or not all(2 * a < b for a, b in itertools.pairwise(reversed(sizes))):
        return ""
    return ", ".join(f"{size:.3g}" for size in reversed(sizes))


def _bounded_slope(case: Case) -> Fix | None:
    """The slope of a reciprocal or a root, which is out of range because the number is next to 0."""
    forward = case.forward_case
    known = {Kind.RECIPROCAL: f.reciprocal, Kind.RSQRT: f.rsqrt}
    formula = known.get(forward.op.kind) if forward is not None else None
    x = forward.input(0) if forward is not None else None
    if forward is None or formula is None or x is None or x.min is None or x.min < 0:
        return None
    bound = tiny(case)
    changed = code(case, argument_of(forward.op.kind), case.dialect.write("maximum", "{0}", bound))
    after = f.then(f.at_least(float(bound)), formula)
    text = f"bound the input of {forward.op.kind.value} from below (by {bound}), where its slope is finite"
    return propose(formula, samples_of(forward, 0), Proposal(text, after, changed))


def _wider(case: Case, rows: list[Row], words: str) -> Fix | None:
    """The op on what was recorded of its inputs, in its type and in a wider one."""
    if case.op.kind in _ELEMENTWISE:
        formula, count = _ELEMENTWISE[case.op.kind]
        return propose(formula, samples_of(case, *range(count)), Proposal(words, s.widened(formula)))
    terms = _terms(case, rows)
    if terms < 1:
        return Fix(words, untried="the inputs of the op were not kept")
    formula = _OF_MANY.get(case.op.kind, s.total)
    factors = rows[:2] if formula is s.dot else rows[:1]
    numbers = "the recorded largest numbers, multiplied in pairs" if formula is s.dot else "the recorded largest number"
    arrays: list[f.Array] = [np.full(terms, _size(row), numpy_type(row.dtype)) for row in factors]
    return propose(formula, Samples(tuple(arrays), f"{terms:,} times {numbers}"), Proposal(words, s.widened(formula)))


def _terms(case: Case, rows: list[Row]) -> int:
    """How many numbers each element of the output is made of; 0 when that is not known."""
    made = max(case.row.elements, 1)
    if case.op.kind in _CONTRACTIONS:
        return _products(case, rows[:2], made) if len(rows) >= 2 else 0
    return min(rows[0].elements // made, 1 << 20) if case.op.kind in _WHOLE and len(rows) == 1 else 0


def _products(case: Case, rows: list[Row], made: int) -> int:
    kind = FUSED.get(case.op.kind, case.op.kind)
    if kind == Kind.MATMUL:  # a (m, k) by b (k, n), whichever of them is turned
        return round((rows[0].elements * rows[1].elements / made / math.prod(case.dims(case.row)[:-2])) ** 0.5)
    second = case.dims(rows[1])
    if kind == Kind.EINSUM:
        inputs, _, output = str(json.loads(case.attributes).get("equation", "")).partition("->")
        terms = zip(inputs.split(","), rows, strict=False)
        sizes = {name: size for term, row in terms for name, size in zip(term, case.dims(row), strict=False)}
        return math.prod(size for name, size in sizes.items() if name not in output) if output else 0
    if kind == Kind.DEPTHWISE_CONVOLVE:
        return math.prod(second[:2])
    return rows[1].elements // second[-1] if second else 0
