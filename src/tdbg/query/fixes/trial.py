"""Executes a formula and its replacement on recorded inputs, and tells what both gave, forward and gradient.

A replacement that still gives a bad value or a bad gradient is no fix: it gets no trial, and so it is never proposed.
Where the inputs themselves were not kept, a witness is made of the recorded minimum, maximum and zeros, and said so.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from tdbg.model import DType
from tdbg.query.fixes.formulas import Array, Formula, log_softmax, softmax
from tdbg.query.trace.rows import Row
from tdbg.query.verdict.case import Case

RECORDED = "this op's inputs"
WITNESS = "values made from the recorded minimum, maximum and zeros"
_MOST_ELEMENTS = 1 << 20
_OVER_ROWS = (softmax, log_softmax)  # ones from above, of which a softmax takes the mean, tell nothing of its gradient
_MOST_RUNS = 8  # that are tried after the one that went bad


@dataclass(frozen=True, slots=True)
class Trial:
    """The op and its replacement, both executed: forward and gradient."""

    before: str
    after: str
    on: str = RECORDED
    fails_at: int | None = None  # the step of a later run, with whose inputs it is bad again

    def as_dict(self) -> dict[str, str]:
        return {"before": self.before, "after": self.after, "on": self.on}


class Run(NamedTuple):
    """A later run of an op."""

    step: int
    arrays: tuple[Array, ...]
    on: str  # as of its Samples


@dataclass(frozen=True, slots=True)
class Samples:
    """Arrays to try a formula on, and the words for what they are."""

    arrays: tuple[Array, ...]
    on: str = RECORDED
    later: Callable[[], Sequence[Run]] = tuple  # the same of the following runs of the op


def samples_of(case: Case, *indices: int) -> Samples | None:
    """The inputs of an op as they were; a witness where they were not kept; None when nothing is known of them."""
    found = _known(case, indices)
    return replace(found, later=lambda: _later(case, indices)) if found is not None else None


def _known(case: Case, indices: Sequence[int]) -> Samples | None:
    kept = [case.input_values.get(index) for index in indices]
    if all(array is not None and array.size <= _MOST_ELEMENTS for array in kept):
        return Samples(tuple(_computable(array) for array in kept if array is not None))
    rows = [case.input(index) for index in indices]
    if any(row is None or row.min is None or not np.isfinite(row.min) for row in rows):
        return None
    return witness([row for row in rows if row is not None])


def _later(case: Case, indices: Sequence[int]) -> list[Run]:
    """Those whose inputs are known and good: what the bad value itself led to says nothing about a fix."""
    found = []
    for run in case.later_runs(_MOST_RUNS):
        samples = _known(run, indices) if all(not fact.row.is_bad for fact in run.inputs) else None
        if samples is not None:
            found.append(Run(run.row.step, samples.arrays, samples.on))
    return found


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
        runs = samples.later()
        good = list(itertools.takewhile(lambda one: is_good(after, one.arrays), runs))
    except (ValueError, TypeError, IndexError):
        return None
    at = _first_bad(value, gradients)
    size = max(array.size for array in samples.arrays)
    finite = "finite" if size < 2 else f"all {size:,} elements finite"
    said = f"{_said(new_value, new_gradients, at)}, {finite}"
    said += _flat(value, gradients, new_gradients) if after not in _OVER_ROWS else ""
    failing = runs[len(good)] if len(good) < len(runs) else None
    fails_at = failing.step if failing is not None else None
    return Trial(_said(value, gradients, at), said + _how_far(good, failing), samples.on, fails_at)


def _flat(value: Array, gradients: Sequence[Array], new_gradients: Sequence[Array]) -> str:
    """Says where a fix is finite because it stops the gradient: nothing is learned from those elements."""
    alike = [array for array in new_gradients if array.shape == value.shape]
    if value.size < 2 or len(alike) != len(new_gradients) or not alike:
        return ""
    bad = ~np.isfinite(value)
    for gradient in gradients:
        bad |= ~np.isfinite(gradient)
    if not bad.any() or any(array[bad].any() for array in alike):
        return ""
    if not any(array.any() for array in alike):
        return "; its gradient is 0 everywhere, so nothing is learned through it"
    return f"; the gradient is 0 at the {int(bad.sum()):,} that {'was' if bad.sum() == 1 else 'were'} bad"


def _how_far(good: Sequence[Run], failing: Run | None) -> str:
    count = len(good)
    runs = f"{count} later run{'s' if count > 1 else ''} of the op, up to step {good[-1].step}" if good else ""
    stood_in = sum(run.on != RECORDED for run in good)
    if stood_in:
        part = "" if stood_in == count else f"in {stood_in} of them "
        runs += f" ({part}on {WITNESS}, because their inputs were not kept)"
    if failing is not None:
        held = f"finite in the {runs}, and " if good else ""
        what = "its inputs" if failing.on == RECORDED else failing.on
        return f"; {held}bad again with {what} of step {failing.step}"
    return f"; finite too in the {runs}" if good else ""


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
