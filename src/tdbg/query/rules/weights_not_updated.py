"""Weights that stay bit for bit the same while the program trains, without having been frozen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tdbg.model import Frame
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.lost_updates import is_lost, is_same
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.training import Layer, Training

_STEPS, _MOST_NODES = 6, 400
_FROZEN = re.compile(r"trainable\s*=\s*False|set_trainable|freeze", re.IGNORECASE)


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
        if layer.variable in done or weight is None or len(weight) < _STEPS or not is_same(weight):
            continue
        done.add(layer.variable)
        last = f"the weight of {layer.name} is the same from step {weight.step[0]} to step {weight.step[-1]}"
        gradient = training.in_training(layer.gradient) if layer.gradient is not None else None
        if gradient is not None and (gradient.rms[-_STEPS:] > 0).all():
            if _is_rounded_away(training, layer, weight):
                continue  # another rule's story: it is trained, by too little
            frame = None if layer.variable in training.writes else _made_to_train(training, layer)
            text = f"{last}, although it has a gradient"
            yield Finding(layer.node, int(weight.step[0]), text, _why(training, layer), frame)
        elif gradient is None and _is_used_in_training(training, layer.node):
            frame = _made_to_train(training, layer)
            if frame is not None:
                yield Finding(layer.node, int(weight.step[0]), f"{last}: {_no_gradient(training, layer)}", (), frame)


def _is_rounded_away(training: Training, layer: Layer, weight: Series) -> bool:
    update = training.in_training(layer.update) if layer.update is not None else None
    return update is not None and is_lost(update, weight)


def _no_gradient(training: Training, layer: Layer) -> str:
    if layer.node.op in training.differentiated:
        return "nobody uses its gradient"
    return "no gradient is taken for it"


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


def _is_used_in_training(training: Training, node: Node) -> bool:
    """A gradient passes through the layer, or through something that its output goes into."""
    seen, waiting = {node}, [node]
    while waiting and len(seen) < _MOST_NODES:
        one = waiting.pop()
        if one.op in training.differentiated:
            return True
        fresh = {reader for reader, _ in training.flow.readers.get(one, ())} - seen
        seen |= fresh
        waiting += sorted(fresh)
    return False


def _made_to_train(training: Training, layer: Layer) -> Frame | None:
    """The user's own line that makes the variable, unless the program says that it stays as it is, or loads it."""
    made = training.created_variables.get(layer.variable)
    if made is None:
        return None
    if made.is_of_layer:
        is_frozen = any(_FROZEN.search(text) for text in training.program.sources())
        return None if is_frozen or not _learns(training) else made.frame
    text = training.program.statement_text(made.frame)
    return made.frame if "Variable(" in text and "trainable" not in text else None


def _learns(training: Training) -> bool:
    """Whether any layer changes: else it is an input that is trained, as for an adversarial example."""
    return any(not is_same(layer.weight) for layer in training.layers)
