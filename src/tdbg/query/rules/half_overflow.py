"""Half-precision numbers that come close to the largest there is."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.training import Training

_STEPS, _LARGEST = 3, 65504.0


@rule(
    "half_overflow",
    why="float16 ends at 65,504: twice this value is infinity",
    fix="compute this part in float32, scale it down, or use bfloat16",
    steps=_STEPS,
)
def half_overflow(training: Training) -> Iterator[Finding]:
    # Gradients are left out: a loss scale drives them to the limit on purpose, and skips the steps that overflow.
    for series in training.outputs():
        if not training.is_half(series):
            continue
        seen = training.in_training(series)
        if seen is None or len(seen) < _STEPS:
            continue
        near = seen.largest > _LARGEST / 2
        if near[-_STEPS:].all():
            share = seen.largest[-1] / _LARGEST
            name = training.name(series.place.node)
            text = f"{name} reaches {seen.largest[-1]:,.0f} in float16, {share:.0%} of its limit"
            yield Finding(series.place.node, int(seen.step[np.flatnonzero(near)[0]]), text)
