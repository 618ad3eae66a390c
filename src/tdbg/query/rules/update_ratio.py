"""Updates that are as large as the weights, or so small that they are rounded away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.model import DType
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.training import Training

_STEPS, _LAST, _LARGEST, _FEWEST_ELEMENTS = 10, 6, 0.5, 16
_EPSILON = {DType.FLOAT32: 2.0**-24, DType.FLOAT16: 2.0**-11, DType.BFLOAT16: 2.0**-8, DType.FLOAT64: 2.0**-53}


@rule(
    "update_ratio",
    why="a healthy update is about a thousandth of its weight: one as large as the weight forgets what was learned, "
    "and one below half a unit in the last place is rounded away",
    fix="another learning rate; for lost updates keep the weights in float32",
    steps=_STEPS,
)
def update_ratio(training: Training) -> Iterator[Finding]:
    done = set()
    for layer in training.layers:
        update = training.in_training(layer.update) if layer.update is not None else None
        weight = training.in_training(layer.weight)
        if layer.variable in done or update is None or weight is None or weight.elements[-1] < _FEWEST_ELEMENTS:
            continue
        if len(update) < _STEPS or len(update) != len(weight):
            continue
        done.add(layer.variable)
        with np.errstate(all="ignore"):
            ratio = (update.rms / weight.rms)[-_LAST:]
        # Every element must be lost, not the mean alone: what the largest update does to the smallest weight counts.
        lost = update.largest[-_LAST:] < 0.5 * _EPSILON.get(DType(weight.dtype), 0) * weight.rms[-_LAST:]
        numbers = f"update rms {update.rms[-1]:.2g}, weight rms {weight.rms[-1]:.2g} at step {update.step[-1]}"
        if (ratio > _LARGEST).all() and weight.rms[-1] > 0:
            text = f"each step changes the weight of {layer.name} by {ratio[-1]:.0%} of its size"
            yield Finding(layer.node, int(update.step[-_LAST]), text, (numbers,))
        elif lost.all() and (update.largest[-_LAST:] > 0).all():
            kind = DType(weight.dtype).label
            text = f"updates of {layer.name} are {ratio[-1]:.1g} of its weight: {kind} rounds them away"
            yield Finding(layer.node, int(update.step[-_LAST]), text, (numbers,))
