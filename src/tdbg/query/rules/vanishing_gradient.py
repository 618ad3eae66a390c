"""Gradients of early layers that are next to nothing beside those of late ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Series
from tdbg.query.rules.training import Layer, Training

_STEPS, _FEWEST_LAYERS, _RATIO = 5, 3, 1e-6
_FLAT, _FEWEST_FLAT, _RATIO_OF_FLAT = ("Sigmoid", "Tanh"), 3, 1e-3


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
        is_small = (gradient.rms < _RATIO * largest).all()
        is_chain = (gradient.rms < _RATIO_OF_FLAT * largest).all() and _fades(training, layer, known)
        if (is_small or is_chain) and (gradient.rms > 0).all():
            text = (
                f"the gradient of {layer.name} has rms {gradient.rms[-1]:.2g}, "
                f"{gradient.rms[-1] / largest[-1]:.1g} of that of {strongest.name} ({largest[-1]:.2g})"
            )
            yield Finding(layer.node, int(gradient.step[0]), text, (), training.made_at(layer.node))


def _fades(training: Training, layer: Layer, known: list[tuple[Layer, Series]]) -> bool:
    """Whether what follows a layer is a chain of sigmoids, through which the gradient gets smaller at every layer."""
    behind = [(other, series) for other, series in known if layer.node in training.flow.ancestors(other.node)]
    chain = sorted(behind, key=lambda pair: len(training.flow.ancestors(pair[0].node)))
    flat = {
        node
        for other, _ in chain
        for node in training.flow.ancestors(other.node) - training.flow.ancestors(layer.node)
        if training.op(node).type in _FLAT
    }
    sizes = [float(np.median(series.rms)) for _, series in chain]
    return len(flat) >= _FEWEST_FLAT and all(before < after for before, after in itertools.pairwise(sizes))
