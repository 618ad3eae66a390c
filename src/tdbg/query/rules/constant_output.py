"""A model that says the same for every sample."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _LAST, _FEWEST_SAMPLES = 8, 5, 4


@rule(
    "constant_output",
    why="the output does not depend on the input: something before it is dead, zero, or cut off",
    fix="look for a dead ReLU, zero weights or a mask before this layer; check that the batch is not one sample",
    steps=_STEPS,
)
def constant_output(training: Training) -> Iterator[Finding]:
    loss = training.loss
    if loss is None or loss.largest[-1] < 1e-6:
        return
    before_the_loss = training.flow.ancestors(loss.place.node)
    layers = {layer.node for layer in training.layers} & before_the_loss
    inner = {other for node in layers for other in training.flow.ancestors(node) if other != node}
    for node in sorted(layers - inner):
        node = _with_bias(training, node)
        series = training.series(node)
        seen = training.in_training(series) if series is not None else None
        if (
            seen is None
            or len(seen) < _STEPS
            or len(training.dims(seen)) < 2
            or training.dims(seen)[0] < _FEWEST_SAMPLES
        ):
            continue
        spread = (seen.max - seen.min)[-_LAST:]
        if np.all(spread <= 1e-6 * np.maximum(seen.largest[-_LAST:], 1e-30)):
            count = int(seen.elements[-1])
            text = f"{training.name(node)} gives {seen.mean[-1]:.4g} for all of its {count:,} elements"
            yield Finding(
                node, int(seen.step[-_LAST]), text, (f"in each of the last {_LAST} steps that were looked at",)
            )


def _with_bias(training: Training, node: Node) -> Node:
    for reader, at in training.flow.readers.get(node, ()):
        if at == 0 and training.op(reader).kind in (Kind.ADD_BIAS, Kind.ADD):
            return reader
    return node
