"""Attention logits that grow until the softmax sees one token only."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _PART, _LARGE, _GROWTH = 20, 5, 50.0, 3.0
_PRODUCTS = (Kind.MATMUL, Kind.EINSUM)
_BETWEEN = (Kind.MULTIPLY, Kind.DIVIDE, Kind.ADD, Kind.SUBTRACT, Kind.SELECT, Kind.SOFTMAX, Kind.MAXIMUM)


@rule(
    "attention_logit_growth",
    why="the softmax becomes one-hot and its gradient vanishes; large runs diverge soon after",
    fix="normalise queries and keys (QK-norm), or try a smaller learning rate, weight decay or a soft logit cap",
    steps=_STEPS,
)
def attention_logit_growth(training: Training) -> Iterator[Finding]:
    learned = {layer.node for layer in training.layers}
    for softmax in training.outputs(Kind.SOFTMAX):
        product = _product(training, softmax.place.node, learned)
        logits = _scaled(training, product) if product is not None else None
        seen = training.in_training(logits) if logits is not None else None
        if product is None or seen is None or len(seen) < _STEPS:
            continue
        first, last = np.median(seen.largest[:_PART]), np.median(seen.largest[-_PART:])
        if last > _LARGE and last > _GROWTH * first and (seen.largest[-_PART:] > _LARGE).all():
            text = f"attention logits of {training.name(product)} grow from at most {first:.3g} to {last:.3g}"
            since = int(seen.step[np.flatnonzero(seen.largest <= _LARGE)[-1]]) if (seen.largest <= _LARGE).any() else 0
            yield Finding(product, since, text, (f"by step {seen.step[-1]}",))


def _product(training: Training, node: Node, learned: set[Node], depth: int = 0) -> Node | None:
    """Finds the product of queries and keys behind a softmax, a mask and a scale: neither of the two is a weight."""
    inputs = training.flow.inputs(node)
    # A select has its values second, behind the condition.
    for place in (place for places in inputs[:2] for place in places if not place.is_given):
        kind = training.op(place.node).kind
        if kind in _PRODUCTS and place.node not in learned:
            return place.node
        if kind in _BETWEEN and depth < 6:
            found = _product(training, place.node, learned, depth + 1)
            if found is not None:
                return found
    return None


def _scaled(training: Training, product: Node) -> Series | None:
    """Takes what the softmax is given, before any mask is added; a mask's large numbers are no growth."""
    readers = [node for node, _ in training.flow.readers.get(product, ()) if node.op in training.differentiated]
    scaled = [node for node in readers if training.op(node).kind in (Kind.MULTIPLY, Kind.DIVIDE)]
    return training.series(scaled[0] if scaled else product)
