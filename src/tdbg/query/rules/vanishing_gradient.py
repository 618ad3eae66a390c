"""Gradients of early layers that are next to nothing beside those of late ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.training import Training

_STEPS, _FEWEST_LAYERS, _RATIO = 5, 3, 1e-6


@rule(
    "vanishing_gradient",
    why="layers whose gradient is a millionth of another layer's stay as they were initialised",
    fix="ReLU or GELU for sigmoid and tanh, residual connections, normalisation, He or Glorot initialisation",
    steps=_STEPS,
)
def vanishing_gradient(training: Training) -> Iterator[Finding]:
    known = []
    for layer in training.layers:
        gradient = training.in_training(layer.gradient) if layer.gradient is not None else None
        if gradient is not None and len(gradient) >= _STEPS:
            known.append((layer, gradient.last(_STEPS)))
    if len({layer.variable for layer, _ in known}) < _FEWEST_LAYERS:
        return
    largest = np.max([gradient.rms for _, gradient in known], axis=0)
    strongest, _ = max(known, key=lambda pair: pair[1].rms[-1])
    for layer, gradient in known:
        # Exactly zero is another story: a dead ReLU, or a part of the model that was not used.
        if (gradient.rms < _RATIO * largest).all() and (gradient.rms > 0).all():
            text = (
                f"the gradient of {layer.name} has rms {gradient.rms[-1]:.2g}, "
                f"{gradient.rms[-1] / largest[-1]:.1g} of that of {strongest.name} ({largest[-1]:.2g})"
            )
            yield Finding(layer.node, int(gradient.step[0]), text)
