"""Weights that stay bit for bit the same while the program trains, without having been frozen."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.model import Frame
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.training import Layer, Training

_STEPS = 6


@rule(
    "weights_not_updated",
    why="a weight that never changes is not trained",
    fix="give it to the optimizer and to tape.gradient; if it is meant to stay, say trainable=False",
    steps=_STEPS,
)
def weights_not_updated(training: Training) -> Iterator[Finding]:
    if not training.writes:
        return
    done = set()
    for layer in training.layers:
        weight = training.in_training(layer.weight)
        if layer.variable in done or weight is None or len(weight) < _STEPS or not _is_constant(weight):
            continue
        done.add(layer.variable)
        last = f"the weight of {layer.name} is the same from step {weight.step[0]} to step {weight.step[-1]}"
        gradient = training.in_training(layer.gradient) if layer.gradient is not None else None
        if gradient is not None and (gradient.rms[-_STEPS:] > 0).all():
            frame = None if layer.variable in training.writes else _made_to_train(training, layer)
            text = f"{last}, although it has a gradient"
            yield Finding(layer.node, int(weight.step[0]), text, _why(training, layer), frame)
        elif gradient is None and _is_differentiated(training, layer.node):
            frame = _made_to_train(training, layer)
            if frame is not None:
                yield Finding(layer.node, int(weight.step[0]), f"{last}: no gradient is taken for it", (), frame)


def _is_constant(series: Series) -> bool:
    return all(np.all(values == values[0]) for values in (series.min, series.max, series.mean, series.std))


def _why(training: Training, layer: Layer) -> tuple[str, ...]:
    assert layer.gradient is not None
    known = f"its gradient has rms {layer.gradient.rms[-1]:.2g}"
    if layer.variable not in training.writes:
        return (known, "nothing writes to it: it is not among the variables that the optimizer was given")
    if layer.update is None:
        return (known,)
    update = layer.update.rms[-1]
    if update == 0:
        return (known, "what is subtracted in each step is exactly 0: the learning rate, or a mask")
    return (known, f"what is subtracted has rms {update:.2g}, lost when rounded beside {layer.weight.rms[-1]:.2g}")


def _is_differentiated(training: Training, node: Node) -> bool:
    """The layer is a part of what is trained: a gradient passes through it, or through what reads it."""
    if node.op in training.differentiated:
        return True
    readers = training.flow.readers.get(node, ())
    return any(reader.op in training.differentiated for reader, _ in readers)


def _made_to_train(training: Training, layer: Layer) -> Frame | None:
    """The user's own line that makes the variable, unless it says that the variable stays as it is."""
    frame = training.created_variables.get(layer.variable)
    text = training.program.statement_text(frame) if frame is not None else ""
    return frame if "Variable(" in text and "trainable" not in text else None
