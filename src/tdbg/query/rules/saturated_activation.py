"""A sigmoid or tanh between layers whose slope is almost zero, on average over all of its elements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.sick_layers import reason_for
from tdbg.query.rules.trained_layers import LAYER_OPS
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS = 5
_LEAST_SLOPE = {Kind.SIGMOID: 0.0025, Kind.TANH: 0.01}  # one hundredth of the steepest
_AT_ONCE = 5  # times as much is too little when training begins so: nothing was learned yet that could ask for it


@rule(
    "saturated_activation",
    why="where a sigmoid or tanh is flat its gradient is almost zero, so the layers before it hardly learn",
    fix="scale the inputs, or try a smaller initialisation or learning rate, normalisation before it, or ReLU",
    steps=_STEPS,
)
def saturated_activation(training: Training) -> Iterator[Finding]:
    for series in training.outputs(*_LEAST_SLOPE):
        node = series.place.node
        seen = training.in_training(series)
        if seen is None or len(seen) < _STEPS or node.op not in training.differentiated:
            continue
        kind = training.op(node).kind
        slopes = mean_slope(kind, seen)
        slope, least = slopes[-_STEPS:], _LEAST_SLOPE[kind]
        begins_so = (slopes < _AT_ONCE * least).all() and bool(seen.step[0] <= training.steps[0] + 1)
        # The last sigmoid of a classifier that is sure of itself is as it should be.
        if ((slope < least).all() or begins_so) and _feeds_a_layer(training, node):
            text = f"{training.name(node)} is saturated: its mean slope is {slope[-1]:.2g} of at most {_most(kind)}"
            evidence = f"mean {seen.mean[-1]:.4g}, std {seen.std[-1]:.4g} at step {seen.step[-1]}"
            since = int(seen.step[0] if begins_so else seen.step[-_STEPS])
            reason = reason_for(training, node, since)
            yield Finding(node, since, text, (evidence, *reason.evidence), reason.frame)


def mean_slope(kind: Kind, seen: Series) -> np.ndarray:
    """Computes it for each step. The slope is y(1-y) for a sigmoid and 1-y² for tanh, so its mean follows from mean and
    std of y, exactly."""
    square = seen.mean**2 + seen.std**2
    return np.maximum(seen.mean - square if kind == Kind.SIGMOID else 1 - square, 0)


def _most(kind: Kind) -> str:
    return "0.25" if kind == Kind.SIGMOID else "1"


def _feeds_a_layer(training: Training, node: Node, most: int = 200) -> bool:
    layers = {layer.node for layer in training.layers}
    seen, todo = {node}, [node]
    while todo and len(seen) < most:
        for reader, _ in training.flow.readers.get(todo.pop(), ()):
            if reader in layers and training.op(reader).kind in LAYER_OPS:
                return True
            if reader not in seen:
                seen.add(reader)
                todo.append(reader)
    return False
