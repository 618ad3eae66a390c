"""Tells whether all of an update is rounded away when it is added to its weight."""

from __future__ import annotations

import numpy as np

from tdbg.model import DType
from tdbg.query.rules.series import Series

STEPS, LAST, FEWEST_ELEMENTS = 10, 6, 16
HALF = (DType.FLOAT16, DType.BFLOAT16)
_EPSILON = {DType.FLOAT32: 2.0**-24, DType.FLOAT16: 2.0**-11, DType.BFLOAT16: 2.0**-8, DType.FLOAT64: 2.0**-53}


def is_same(series: Series) -> bool:
    """Whether a tensor stays as it is, bit for bit, as far as extremes, mean and spread tell."""
    return all(bool(np.all(values == values[0])) for values in (series.min, series.max, series.mean, series.std))


def is_lost(update: Series, weight: Series) -> bool:
    """Whether the update is lost in each step of the second half: a schedule that ends at 0 loses the last updates
    only, and by design.

    Every element must be lost, not the mean alone: so the largest update counts.
    """
    if len(update) < STEPS or len(update) != len(weight):
        return False
    count = max(LAST, len(update) // 2)
    largest, epsilon = update.largest[-count:], _EPSILON.get(DType(weight.dtype), 0)
    is_too_small = (largest < 0.5 * epsilon * weight.rms[-count:]).all() and weight.elements[-1] >= FEWEST_ELEMENTS
    return bool((largest > 0).all() and (is_too_small or is_same(weight.last(count))))
