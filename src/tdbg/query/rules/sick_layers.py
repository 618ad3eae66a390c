"""Tells what made an activation dead or saturated, by the numbers of the layer before it, and which line to change."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tdbg.model import Frame
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.trained_layers import Layer
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind, Role

_BETWEEN = (Kind.ADD_BIAS, Kind.ADD, Kind.BATCH_NORM, Kind.MULTIPLY)
_LARGE_INPUT, _LARGE_WEIGHT, _LARGE_UPDATE = 10.0, 8.0, 0.3


class Reason(NamedTuple):
    """What the numbers say, and the line where that can be changed (None: that of the layer itself)."""

    evidence: tuple[str, ...]
    frame: Frame | None


def reason_for(training: Training, node: Node, since: int) -> Reason:
    """Looks for it at the node that is sick from step ``since`` on."""
    layer = _layer_before(training, node)
    if layer is None:
        return Reason((), training.made_at(node))
    fan_in = _fan_in(training, layer)
    weight, usual = _at(layer.weight, since), float(np.sqrt(2 / max(fan_in, 1)))
    given = [series for place in layer.given if (series := training.at(place)) is not None]
    largest = max((float(series.rms[0]) for series in given), default=0.0)
    numbers = f"the input of {layer.name} has rms {largest:.3g}, its weight {weight:.3g} (usual: up to {usual:.2g})"
    made = training.variables.created.get(layer.variable)
    first = int(layer.weight.step[0])
    if weight > _LARGE_WEIGHT * usual and float(layer.weight.rms[0]) > _LARGE_WEIGHT * usual:
        frame = training.made_at(node) if made is None or made.is_of_layer else made.frame
        return Reason((numbers, "the weight is large from the start: check the initialiser"), frame)
    if largest > _LARGE_INPUT and _is_data(training, layer):
        return Reason((numbers, "the inputs are not scaled"), training.frame(layer.node))
    if since > first and layer.update is not None:
        ratio = _largest_change(layer.update, layer.weight)
        if ratio > _LARGE_UPDATE:
            text = f"a step changed the weight by {ratio:.0%} of its size: check the learning rate"
            return Reason((numbers, text), training.lines.optimizer() or training.made_at(node))
    return Reason((numbers,), training.made_at(node))


def _layer_before(training: Training, node: Node, depth: int = 0) -> Layer | None:
    for places in training.flow.inputs(node)[:2]:
        for place in places:
            found = training.layer_of.get(place.node)
            if found is not None:
                return found
            if not place.is_given and training.op(place.node).kind in _BETWEEN and depth < 4:
                deeper = _layer_before(training, place.node, depth + 1)
                if deeper is not None:
                    return deeper
    return None


def _fan_in(training: Training, layer: Layer) -> int:
    dims = training.dims(layer.weight)
    return int(np.prod(dims[:-1])) if len(dims) > 1 else 1


def _largest_change(update: Series, weight: Series) -> float:
    """Takes the largest update of any step, as a part of the weight."""
    if len(update) > len(weight):
        return 0.0
    return float((update.rms / np.maximum(weight.rms[-len(update) :], 1e-30)).max())


def _at(series: Series, step: int) -> float:
    later = np.flatnonzero(series.step >= step)
    return float(series.rms[later[0] if len(later) else -1])


def _is_data(training: Training, layer: Layer) -> bool:
    """Whether nothing is computed between the data and the layer."""
    return any(place.is_given or Role.ENTERS in training.op(place.node).roles for place in layer.given)
