"""Finds the layers of a model: the products with a weight, and what becomes of that weight in training."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tdbg.model import Phase
from tdbg.query.rules.flow import Variable
from tdbg.query.rules.series import Node, Place, Series
from tdbg.vocabulary import PRODUCTS, Kind

if TYPE_CHECKING:
    from tdbg.query.rules.training import Training

LAYER_OPS = PRODUCTS | {Kind.CONVOLVE_GRADIENT}  # in the forward pass that is a transposed convolution


@dataclass(frozen=True, slots=True)
class Layer:
    """One product with a weight, and what became of the weight."""

    node: Node
    variable: Variable
    name: str
    given: tuple[Place, ...]  # what the weight is multiplied with
    weight: Series
    gradient: Series | None
    update: Series | None  # what is added or taken away in each step


def find_layers(training: Training) -> list[Layer]:
    """Finds them in the order of the program."""
    gradients: dict[int, list[Series]] = defaultdict(list)  # by the forward op
    for series in training.outputs(phase=Phase.BACKWARD):
        gradients[training.op(series.place.node).forward].append(series)
    found = []
    nodes = {series.place.node for series in training.outputs(*LAYER_OPS)} | _fused(training)
    for node in sorted(nodes):
        inputs = training.flow.inputs(node)
        for at, places in enumerate(inputs):
            weight = _weight(training, places)
            if weight is not None:
                variable, series = weight
                others = tuple(place for n, more in enumerate(inputs) if n != at for place in more)
                gradient = _gradient(training, node, series, others, gradients)
                update = training.variables.update(variable)
                found.append(Layer(node, variable, _name(training, node), others, series, gradient, update))
    return found


def _fused(training: Training) -> set[Node]:
    """Finds products that the runtime fused with what follows them: their own values cannot be seen."""
    ran = {training.op(place.node).graph for place in training.sample.series} - {-1}
    ops = training.program.ops.values()
    return {
        Node(op.number, 0)
        for op in ops
        if op.graph in ran and op.kind in LAYER_OPS and op.phase == Phase.FORWARD and not op.observed
    }


def _weight(training: Training, places: tuple[Place, ...]) -> tuple[Variable, Series] | None:
    for place in places:
        if not place.is_given and training.op(place.node).kind == Kind.READ:
            variable = training.flow.variable(place.node)
            if variable is not None and variable in training.variables.reads:
                return variable, training.variables.reads[variable]
    return None


def _gradient(
    training: Training, node: Node, weight: Series, others: tuple[Place, ...], gradients: Mapping[int, list[Series]]
) -> Series | None:
    """Finds a weight's gradient: it has the weight's size, and is made of what the weight was multiplied with."""
    wanted = {(place.node, place.slot) for place in others}
    for series in gradients.get(node.op, ()):
        if series.elements[-1] == weight.elements[-1] and wanted & _read_by(training, series.place.node, node.op):
            return series
    return None


def _read_by(training: Training, node: Node, forward: int, depth: int = 3) -> set[tuple[Node, int]]:
    """Collects what the ops of one op's gradient read, up to a node of it: a product and, with batches, its sum."""
    places = [place for places in training.flow.inputs(node) for place in places]
    found = {(place.node, place.slot) for place in places}
    for place in places:
        if depth and not place.is_given and training.op(place.node).forward == forward:
            found |= _read_by(training, place.node, forward, depth - 1)
    return found


def _name(training: Training, node: Node) -> str:
    op = training.op(node)
    if op.graph < 0:
        return f"{op.type} {node.turn + 1}" if node.turn else op.type
    return training.name(node)
