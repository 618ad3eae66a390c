"""Gradients that have grown a thousandfold, or were huge from the start, and dwarf the weights they are for."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.training import Training

_STEPS, _LAST, _GROWTH, _HUGE = 8, 3, 1e3, 1e9


@rule(
    "exploding_gradient",
    why="each step throws the weights further off; NaN or infinity usually comes next",
    fix="try a smaller learning rate, {gradient_clipping}, normalisation or scaled targets",
    steps=_STEPS,
)
def exploding_gradient(training: Training) -> Iterator[Finding]:
    for layer in training.layers:
        gradient = training.in_training(layer.gradient) if layer.gradient is not None else None
        if gradient is None or len(gradient) < _STEPS:
            continue
        weight = training.in_training(layer.weight)
        if weight is None or len(weight) != len(gradient):
            continue
        rms = gradient.rms
        usual = float(np.median(rms[: max(3, len(rms) // 4)]))
        if usual > 0 and (rms[-_LAST:] > _GROWTH * usual).all() and (rms[-_LAST:] > weight.rms[-_LAST:]).all():
            since = int(gradient.step[np.flatnonzero(rms <= _GROWTH * usual)[-1] + 1])
            text = (
                f"the gradient of {layer.name} grew from rms {usual:.2g} to {rms[-1]:.2g} at step {gradient.step[-1]}"
            )
            evidence = f"its weight has rms {weight.rms[-1]:.2g}"
            yield Finding(layer.node, since, text, (evidence,), training.lines.optimizer())
        elif (rms > _HUGE * weight.rms).all() and (weight.rms > 0).all():
            text = f"the gradient of {layer.name} has rms {rms[-1]:.2g}, and its weight {weight.rms[-1]:.2g}"
            yield Finding(layer.node, int(gradient.step[0]), text, ("it has been like this since the first step",))
