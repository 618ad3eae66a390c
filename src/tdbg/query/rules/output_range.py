"""A last activation that cannot give what the targets ask for."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node, Place, Series
from tdbg.query.rules.trained_layers import LAYER_OPS
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind, Role

_STEPS, _BEYOND, _MOST_NODES = 3, 0.5, 200
_RANGE = {Kind.SIGMOID: (0, 1), Kind.TANH: (-1, 1), Kind.SOFTMAX: (0, 1)}


@rule(
    "output_range",
    why="no weights can bring the output to such targets: the activation is driven to its end, where it has no slope",
    fix="no activation on the last layer of a regression, or targets that are scaled to its range",
    steps=_STEPS,
)
def output_range(training: Training) -> Iterator[Finding]:
    for node in training.flow.nodes():
        op = training.op(node)
        if op.kind not in (Kind.SUBTRACT, Kind.SQUARED_DIFFERENCE) or op.number not in training.differentiated:
            continue
        sides = training.flow.inputs(node)
        for bounded, others in ((sides[0], sides[1]), (sides[1], sides[0])) if len(sides) == 2 else ():
            for place in bounded:
                kind = Kind.OTHER if place.is_given else training.op(place.node).kind
                targets = _data(training, others) if kind in _RANGE and _is_last(training, node) else None
                if targets is not None and _is_beyond(kind, targets):
                    low, high = _RANGE[kind]
                    text = (
                        f"{training.name(place.node)} gives {low} to {high}, and the targets go from "
                        f"{targets.min.min():.4g} to {targets.max.max():.4g}"
                    )
                    yield Finding(place.node, int(targets.step[0]), text, (), training.made_at(place.node))


def _data(training: Training, places: tuple[Place, ...]) -> Series | None:
    """Takes what comes from outside of the program, or is written into it."""
    for place in places:
        op = training.op(place.node)
        if place.is_given or Role.ENTERS in op.roles or op.kind == Kind.CONSTANT:
            series = training.at(place)
            return (training.in_training(series) or series) if series is not None else None
    return None


def _is_beyond(kind: Kind, targets: Series) -> bool:
    """Whether the mean itself is outside, by half of the range: not an outlier alone."""
    low, high = _RANGE[kind]
    margin = _BEYOND * (high - low)
    return bool(((targets.mean < low - margin) | (targets.mean > high + margin)).all())


def _is_last(training: Training, node: Node) -> bool:
    """Whether no layer follows: a difference inside of a model is no loss."""
    seen, todo = {node}, [node]
    while todo and len(seen) < _MOST_NODES:
        for reader, _ in training.flow.readers.get(todo.pop(), ()):
            if training.op(reader).kind in LAYER_OPS and training.op(reader).forward < 0:
                return False
            if reader not in seen:
                seen.add(reader)
                todo.append(reader)
    return True
