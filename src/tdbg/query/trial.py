"""A formula, its replacement and recorded inputs in; what both gave, forward and gradient, out.

A replacement that still gives a bad value or a bad gradient is no fix: it gets no trial, and so it is never proposed.
Where the inputs themselves were not kept, a witness is made of the recorded minimum, maximum and zeros, and said so.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tdbg.model import DType
from tdbg.query.case import Case
from tdbg.query.formulas import Array, Formula
from tdbg.query.rows import Row

RECORDED = "the recorded inputs"
WITNESS = "values made from the recorded minimum, maximum and zeros"
_MOST_ELEMENTS = 1 << 20


@dataclass(frozen=True, slots=True)
class Trial:
    """The op and its replacement, both executed: forward and gradient."""

    before: str
    after: str
    on: str = RECORDED

    def as_dict(self) -> dict[str, str]:
        return {"before": self.before, "after": self.after, "on": self.on}


@dataclass(frozen=True, slots=True)
class Samples:
    """Arrays to try a formula on, and the words for what they are."""

    arrays: tuple[Array, ...]
    on: str = RECORDED


def samples_of(case: Case, *indices: int) -> Samples | None:
    """The inputs of an op as they were; a witness where they were not kept; None when nothing is known of them."""
    kept = [case.input_values.get(index) for index in indices]
    if all(array is not None and array.size <= _MOST_ELEMENTS for array in kept):
        return Samples(tuple(_computable(array) for array in kept if array is not None))
    rows = [case.input(index) for index in indices]
    if any(row is None or row.min is None or not np.isfinite(row.min) for row in rows):
        return None
    return witness([row for row in rows if row is not None])


def witness(rows: Sequence[Row]) -> Samples:
    """All combinations of what each row says was there: minimum, maximum, 0."""
    points = [_points(row) for row in rows]
    dtypes = [numpy_type(row.dtype) for row in rows]
    columns = zip(*itertools.product(*points), strict=True)
    return Samples(tuple(np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True)), WITNESS)


def _points(row: Row) -> list[float]:
    found = {row.min, row.max, 0.0 if row.zero else row.min}
    return sorted(value for value in found if value is not None)


def numpy_type(dtype: int) -> type:
    return {DType.FLOAT16: np.float16, DType.FLOAT64: np.float64}.get(DType(dtype), np.float32)


def _computable(array: Array) -> Array:
    """bfloat16 has the range of float32, and numpy cannot compute with it."""
    return array if array.dtype in (np.float16, np.float32, np.float64) else array.astype(np.float32)


def run(formula: Formula, arrays: Sequence[Array]) -> tuple[Array, tuple[Array, ...]]:
    """Value and gradients, for an upstream gradient of ones."""
    with np.errstate(all="ignore"):
        value, back = formula(*arrays)
        return value, back(np.ones_like(value))


def is_good(formula: Formula, arrays: Sequence[Array]) -> bool:
    value, gradients = run(formula, arrays)
    return all(bool(np.isfinite(array).all()) for array in (value, *gradients))


def attempt(before: Formula, after: Formula, samples: Samples) -> Trial | None:
    """None unless the formula goes bad on these inputs and its replacement, forward and gradient, does not."""
    try:
        value, gradients = run(before, samples.arrays)
        if all(np.isfinite(array).all() for array in (value, *gradients)) or not is_good(after, samples.arrays):
            return None
        new_value, new_gradients = run(after, samples.arrays)
    except (ValueError, TypeError, IndexError):
        return None
    at = _first_bad(value, gradients)
    size = max(array.size for array in samples.arrays)
    finite = "finite" if size < 2 else f"all {size:,} elements finite"
    return Trial(_said(value, gradients, at), f"{_said(new_value, new_gradients, at)}, {finite}", samples.on)


def _first_bad(value: Array, gradients: Sequence[Array]) -> int:
    for array in (value, *gradients):
        bad = ~np.isfinite(array)
        if bad.any():
            return int(np.argmax(bad))
    return 0


def _said(value: Array, gradients: Sequence[Array], at: int) -> str:
    slopes = [_bad_or_at(gradient, at) for gradient in gradients if gradient.size]
    if not slopes:
        return f"{_bad_or_at(value, at):.4g}"
    slope = next((s for s in slopes if not np.isfinite(s)), slopes[0])
    return f"{_bad_or_at(value, at):.4g} with gradient {slope + 0.0:.4g}"


def _bad_or_at(array: Array, at: int) -> float:
    flat = array.reshape(-1)
    return float(flat[at]) if at < flat.size else float(flat[_first_bad(array, ())])
