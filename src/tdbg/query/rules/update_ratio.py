"""Updates that are as large as the weights, or so small that they are rounded away."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.model import DType
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.lost_updates import FEWEST_ELEMENTS, HALF, LAST, STEPS, is_lost
from tdbg.query.rules.series import Series
from tdbg.query.rules.training import Layer, Training

_LARGEST = 0.5
_WIPED, _ROSE = 10, 100  # a first update that is ten weights large, and a loss a hundredfold higher after it
_STILLED = 5  # a first update that is five weights large, and no gradient at all in the end


@rule(
    "update_ratio",
    why="a healthy update is about a thousandth of its weight: one as large as the weight erases what was learned, "
    "and one below half a unit in the last place is rounded away",
    fix="use a smaller learning rate where updates are too large, or a larger one where they are rounded away",
    steps=STEPS,
)
def update_ratio(training: Training) -> Iterator[Finding]:
    done = set()
    for layer in training.layers:
        update = training.in_training(layer.update) if layer.update is not None else None
        weight = training.in_training(layer.weight)
        if layer.variable in done or update is None or weight is None:
            continue
        if len(update) < STEPS or len(update) != len(weight):
            continue
        done.add(layer.variable)
        with np.errstate(all="ignore"):
            ratio = (update.rms / weight.rms)[-LAST:]
        numbers = f"update rms {update.rms[-1]:.2g}, weight rms {weight.rms[-1]:.2g} at step {update.step[-1]}"
        if (ratio > _LARGEST).all() and weight.rms[-1] > 0 and weight.elements[-1] >= FEWEST_ELEMENTS:
            text = f"each step changes the weight of {layer.name} by {ratio[-1]:.0%} of its size"
            yield Finding(layer.node, int(update.step[-LAST]), text, (numbers,), training.lines.optimizer())
        elif (after := _wiped(training, update, weight) or _stilled(training, layer, update, weight)) is not None:
            times = f"{update.rms[0] / weight.rms[0]:.0f} times its size"
            text = f"the first step changes the weight of {layer.name} by {times}"
            numbers = f"update rms {update.rms[0]:.2g}, weight rms {weight.rms[0]:.2g} at step {update.step[0]}"
            yield Finding(layer.node, int(update.step[0]), text, (numbers, after), training.lines.optimizer())
        elif DType(weight.dtype) not in HALF and is_lost(update, weight):
            kind = DType(weight.dtype).label
            text = f"updates of {layer.name} are {ratio[-1]:.1g} of its weight: {kind} rounds them away"
            yield Finding(layer.node, int(update.step[-LAST]), text, (numbers,), training.lines.optimizer())


def _wiped(training: Training, update: Series, weight: Series) -> str | None:
    """Says how the loss rose after an update that left nothing of the weight that the program began with; else None."""
    loss = training.in_training(training.loss) if training.loss is not None else None
    if loss is None or len(loss) < STEPS or weight.elements[0] < FEWEST_ELEMENTS:
        return None
    if not 0 < weight.rms[0] * _WIPED < update.rms[0] or not 0 < loss.mean[0] * _ROSE < np.median(loss.mean[1:STEPS]):
        return None
    return f"the loss was {loss.mean[0]:.3g}, and {np.median(loss.mean[1:STEPS]):.3g} in the steps after it"


def _stilled(training: Training, layer: Layer, update: Series, weight: Series) -> str | None:
    """Since when the gradient is exactly 0, after an update that left nothing of the first weight; else None."""
    gradient = training.in_training(layer.gradient) if layer.gradient is not None else None
    if gradient is None or len(gradient) < STEPS or weight.elements[0] < FEWEST_ELEMENTS:
        return None
    moving = gradient.step[gradient.rms > 0]
    if not 0 < weight.rms[0] * _STILLED < update.rms[0] or not len(moving) or (gradient.rms[-LAST:] > 0).any():
        return None
    return f"its gradient is exactly 0 in all steps after step {moving[-1]}"
