"""Predictions of shape (N, 1) against targets of shape (N,): every one against every other."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Place
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind


@rule(
    "broadcast_shape",
    why="each prediction is compared with the targets of all samples, so the model can learn only their mean",
    fix="give both the same shape: {without_last_axis}, or target[:, None]",
    steps=0,
)
def broadcast_shape(training: Training) -> Iterator[Finding]:
    for series in training.outputs(Kind.SUBTRACT, Kind.SQUARED_DIFFERENCE, Kind.MULTIPLY):
        node, dims = series.place.node, training.dims(series)
        if len(dims) != 2 or dims[0] != dims[1] or dims[0] < 2 or node.op not in training.differentiated:
            continue
        sides = [side for side in (training.shape_of_input(node, at) for at in (0, 1)) if side]
        if sorted(map(len, sides)) != [1, 2] or {dims[0]} != {side[0] for side in sides}:
            continue
        if max(sides, key=len)[1] != 1:
            continue
        learned = [_is_learned(training, places) for places in training.flow.inputs(node)]
        if learned.count(True) != 1:  # distances of all pairs have both or none
            continue
        shapes = " and ".join(str(list(side)) for side in sides)
        text = f"{training.op(node).type} of shapes {shapes} gives {list(dims)}"
        yield Finding(node, int(series.step[0]), text)


def _is_learned(training: Training, places: tuple[Place, ...]) -> bool:
    return any(
        training.op(node).kind == Kind.READ
        for place in places
        if not place.is_given
        for node in training.flow.ancestors(place.node)
    )
