"""Says what proves a cause: which element, its value, and where that value came from."""

from __future__ import annotations

import itertools

import numpy as np

from tdbg.model import DType
from tdbg.query.fixes.finders import small_terms
from tdbg.query.fixes.rerun import in_float64
from tdbg.query.fixes.statement import statement_of
from tdbg.query.trace.program import short_path
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind


def share(count: int, elements: int, what: str) -> str:
    """``3 of 128 elements are exactly 0``"""
    if elements == 1:
        return f"the only element is {what}"
    return f"{count:,} of {elements:,} elements {'is' if count == 1 else 'are'} {what}"


def at_element(case: Case, formula: str, index: int = 0) -> tuple[str, ...]:
    """``element [3, 7]: log(0); the 0 came from Softmax, train.py:47``"""
    values = [case.at_element(i) for i in range(len(case.inputs))]
    element, fact = case.element, case.fact(index)
    if fact is None:
        return ()
    if element is None or index >= len(values) or values[index] is None:
        return ()
    shown = [number(value) if value is not None else "?" for value in values]
    place = f"element {list(element)}: " if element else ""
    return (f"{place}{formula.format(*shown)}; the {shown[index]} {fact.came_from()}",)


def number(value: float) -> str:
    return f"{value:.6g}" if value != 0 else "0"


def place_of(case: Case) -> str:
    """``Softmax, train.py:47``"""
    where = f", {short_path(case.frame.file)}:{case.frame.line}" if case.frame else ""
    return f"{case.op.type}{where}"


def in_wide(case: Case) -> tuple[str, ...]:
    """What float64 makes of the same inputs: the range of the type, or the domain of the op."""
    arrays = [case.input_values.get(fact.index) for fact in case.inputs]
    if not arrays or any(array is None for array in arrays):
        return ()
    output = in_float64(case.op.kind, [array for array in arrays if array is not None])
    if output is None or output.dtype.kind != "f" or output.size == 0:
        return ()
    if not np.isfinite(output).all():
        return ("recomputed in float64 it is bad as well: a wider type does not help",)
    at = case.element if case.element is not None and output.shape == case.output_shape else None
    value = float(output[at]) if at is not None else float(np.abs(output).max())
    return (f"recomputed in float64 it is {value:.4g}: only the range of {case.row.label} is too small",)


def lost_beside_one(case: Case, index: int = 0) -> str:
    """The sentence on an epsilon that is added where 1 is, and that the type cannot hold beside it; "" without one.

    It is looked for in the statements of the ops that made an input. A framework's optimizer may have moved it there:
    TensorFlow's turns ``(1 - p) + eps`` into ``(1 + eps) - p``.
    """
    rounded = _AS.get(case.dtype)
    if rounded is None:
        return ""
    places = [case, *itertools.takewhile(lambda made: made.op.kind in _NEXT_TO_ONE, case.chain(index, 5))]
    for place in places:
        for epsilon in small_terms(statement_of(place)):
            if rounded(1.0 + epsilon) == 1.0 and rounded(1.0 - epsilon) == 1.0:
                least = float(np.spacing(rounded(1.0)))
                return (
                    f"the epsilon of {epsilon:g} is lost: in {case.row.label} both 1 + {epsilon:g} and 1 - {epsilon:g} "
                    f"are exactly 1, and the next number is {least:.1g} away"
                )
    return ""


_AS: dict[DType, type[np.floating]] = {DType.FLOAT16: np.float16, DType.FLOAT32: np.float32, DType.FLOAT64: np.float64}
_NEXT_TO_ONE = (Kind.SUBTRACT, Kind.ADD, Kind.CLIP, Kind.MINIMUM, Kind.MAXIMUM, Kind.NEGATE)
