"""Attention logits that grow until the softmax sees one token only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.training import Training

_STEPS, _PART, _LARGE, _GROWTH = 20, 5, 50.0, 3.0
_PRODUCTS = ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3", "Einsum", "MatMul")
_BETWEEN = ("Mul", "RealDiv", "AddV2", "Add", "Sub", "Select", "SelectV2", "Softmax", "Maximum")


@rule(
    "attention_logit_growth",
    why="the softmax becomes one-hot and its gradient vanishes; large runs diverge soon after",
    fix="normalise queries and keys (QK-norm), a smaller learning rate, weight decay, or a soft cap on the logits",
    steps=_STEPS,
)
def attention_logit_growth(training: Training) -> Iterator[Finding]:
    learned = {layer.node for layer in training.layers}
    for softmax in training.outputs("Softmax"):
        logits = _logits(training, softmax.place.node, learned)
        seen = training.in_training(logits) if logits is not None else None
        if logits is None or seen is None or len(seen) < _STEPS:
            continue
        first, last = np.median(seen.largest[:_PART]), np.median(seen.largest[-_PART:])
        if last > _LARGE and last > _GROWTH * first and (seen.largest[-_PART:] > _LARGE).all():
            text = f"attention logits of {training.name(logits.place.node)} grow from at most {first:.3g} to {last:.3g}"
            since = int(seen.step[np.flatnonzero(seen.largest <= _LARGE)[-1]]) if (seen.largest <= _LARGE).any() else 0
            yield Finding(logits.place.node, since, text, (f"by step {seen.step[-1]}",))


def _logits(training: Training, node: Node, learned: set[Node], depth: int = 0) -> Series | None:
    """The last scaled product of two tensors, none of them a weight, before any mask is added."""
    for place in training.flow.inputs(node)[0] if training.flow.inputs(node) else ():
        if place.is_given:
            continue
        kind = training.op(place.node).type
        if kind in _PRODUCTS:
            if place.node in learned:
                return None
            scaled = [n for n, _ in training.flow.readers.get(place.node, ()) if training.op(n).type in ("Mul", "RealDiv")]
            forward = [n for n in scaled if n.op in training.differentiated]
            return training.series(forward[0] if forward else place.node)
        if kind in _BETWEEN and depth < 6:
            for found in (_logits(training, place.node, learned, depth + 1), _second(training, place.node, learned)):
                if found is not None:
                    return found
    return None


def _second(training: Training, node: Node, learned: set[Node]) -> Series | None:
    """A select has its values second, behind the condition."""
    inputs = training.flow.inputs(node)
    for place in inputs[1] if len(inputs) > 1 else ():
        if not place.is_given and training.op(place.node).type in (*_PRODUCTS, "Mul", "RealDiv"):
            if training.op(place.node).type in _PRODUCTS:
                return None if place.node in learned else training.series(place.node)
            return _logits(training, place.node, learned, 5)
    return None
