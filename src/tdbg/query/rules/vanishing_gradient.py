"""Gradients of early layers that are next to nothing beside those of late ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Series
from tdbg.query.rules.trained_layers import Layer
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _FEWEST_LAYERS, _RATIO = 5, 3, 1e-6
_EARLY = 2  # steps: a network whose first layers do not learn is soon constant, and then all gradients are small
_FLAT, _FEWEST_FLAT, _RATIO_OF_FLAT, _SAME = (Kind.SIGMOID, Kind.TANH), 3, 1e-3, 1e-3


@rule(
    "vanishing_gradient",
    why="layers whose gradient is a millionth of another layer's hardly move from their initial weights",
    fix="try ReLU or GELU instead of sigmoid and tanh, residual connections, normalisation, He or Glorot weights",
    steps=_STEPS,
)
def vanishing_gradient(training: Training) -> Iterator[Finding]:
    known = []
    for layer in training.layers:
        gradient = training.in_training(layer.gradient) if layer.gradient is not None else None
        if gradient is not None and len(gradient) >= _STEPS:
            known.append((layer, gradient))
    if len({layer.variable for layer, _ in known}) < _FEWEST_LAYERS:
        return
    for layer, gradient in known:
        late = _beside_the_strongest([(one, series.last(_STEPS)) for one, series in known], layer)
        early = _beside_the_strongest([(one, series.first(_EARLY)) for one, series in known], layer)
        # Exactly zero is another story: a dead ReLU, or a part of the model that was not used.
        if late is not None and late[1] < _RATIO:
            yield _finding(training, layer, gradient.last(_STEPS), *late)
        elif early is not None and early[1] < _RATIO_OF_FLAT and _stays(layer) and _fades(training, layer, known):
            yield _finding(training, layer, gradient.first(_EARLY), *early)


def _beside_the_strongest(known: list[tuple[Layer, Series]], layer: Layer) -> tuple[Layer, float, float] | None:
    """Finds the layer with the largest gradient, the greatest part of it that this layer's was in any step, and its
    size."""
    rms = next(series.rms for one, series in known if one is layer)
    largest = np.max([series.rms for _, series in known], axis=0)
    if not (rms > 0).all():
        return None
    strongest, series = max(known, key=lambda pair: pair[1].rms[-1])
    return strongest, float((rms / largest).max()), float(series.rms[-1])


def _finding(
    training: Training, layer: Layer, gradient: Series, strongest: Layer, ratio: float, largest: float
) -> Finding:
    text = (
        f"the gradient of {layer.name} has rms {gradient.rms[-1]:.2g}, "
        f"{gradient.rms[-1] / largest:.1g} of that of {strongest.name} ({largest:.2g})"
    )
    when = f"at most {ratio:.1g} of it in the steps {gradient.step[0]} to {gradient.step[-1]}"
    return Finding(layer.node, int(gradient.step[0]), text, (when,), training.made_at(layer.node))


def _stays(layer: Layer) -> bool:
    """Whether a weight is almost as it was initialised."""
    rms = layer.weight.rms
    return bool(abs(rms[-1] - rms[0]) < _SAME * rms[0])


def _fades(training: Training, layer: Layer, known: list[tuple[Layer, Series]]) -> bool:
    """Whether what follows a layer is a chain of sigmoids, through which the gradient gets smaller at every layer."""
    behind = [(other, series) for other, series in known if layer.node in training.flow.ancestors(other.node)]
    chain = sorted(behind, key=lambda pair: len(training.flow.ancestors(pair[0].node)))
    flat = {
        node
        for other, _ in chain
        for node in training.flow.ancestors(other.node) - training.flow.ancestors(layer.node)
        if training.op(node).kind in _FLAT
    }
    sizes = [float(series.rms[0]) for _, series in chain]
    return len(flat) >= _FEWEST_FLAT and all(before < after for before, after in itertools.pairwise(sizes))
