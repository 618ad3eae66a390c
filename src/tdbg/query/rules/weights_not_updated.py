"""Weights that stay bit for bit the same while the program trains, without having been frozen."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.model import Frame, Phase
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.lost_updates import is_lost, is_same
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.trained_layers import Layer
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _MOST_NODES = 6, 400
_STEPPED = (Kind.SIGN, Kind.ROUND, Kind.FLOOR, Kind.CEIL)


@rule(
    "weights_not_updated",
    why="a weight that never changes is not trained",
    fix="pass it to {what_trains}; if it should stay fixed, create it with {frozen}",
    steps=_STEPS,
)
def weights_not_updated(training: Training) -> Iterator[Finding]:
    if not training.variables.writes:
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
            is_written = layer.variable in training.variables.writes
            made = None if is_written else _made_to_train(training, layer)
            unwritten = _left_at(training, layer) or _trained_at(training, layer) or made
            frame = training.lines.optimizer() if is_written else unwritten
            text = f"{last}, although it has a gradient"
            evidence = (*_why(training, layer), *_made_text(made))
            yield Finding(layer.node, int(weight.step[0]), text, evidence, frame)
        elif gradient is not None and not gradient.largest.any() and (step := _step_after(training, layer)) is not None:
            text = f"{last}: {training.op(step).type} has no slope, so the gradient of all before it is 0"
            yield Finding(layer.node, int(weight.step[0]), text, (), training.frame(step))
        elif gradient is None and _is_used_in_training(training, layer.node):
            made = _made_to_train(training, layer)
            if made is not None:
                frame = _cut_at(training, layer) or _trained_at(training, layer) or made
                text = f"{last}: {_no_gradient(training, layer)}"
                yield Finding(layer.node, int(weight.step[0]), text, _made_text(made), frame)


def _left_at(training: Training, layer: Layer) -> Frame | None:
    """Finds the only line that computes with the gradient of a weight that nothing writes to: there it is left."""
    assert layer.gradient is not None
    readers = [node for node, _ in training.flow.readers.get(layer.gradient.place.node, ())]
    found = {frame for node in readers if _is_plain(training, node) and (frame := training.frame(node)) is not None}
    return found.pop() if len(found) == 1 else None


def _is_plain(training: Training, node: Node) -> bool:
    """Whether it is arithmetic that the user wrote: no norm for a log, no library's clipping."""
    op = training.op(node)
    return op.kind in (Kind.MULTIPLY, Kind.SUBTRACT, Kind.ADD) and op.graph < 0 and not training.lines.is_of_library(op)


def _step_after(training: Training, layer: Layer) -> Node | None:
    """Finds the function without a slope that stands behind a layer."""
    for node in training.flow.nodes():
        is_step = training.op(node).kind in _STEPPED and training.op(node).phase == Phase.FORWARD
        if is_step and layer.node in training.flow.ancestors(node) and _is_used_in_training(training, node):
            return node
    return None


def _trained_at(training: Training, layer: Layer) -> Frame | None:
    """Finds the only line that changes other weights, or the only one after the last use of this one, as where two
    models take turns: what it is given leaves this one out."""
    if layer.variable in training.variables.writes:
        return None
    nodes = {node for other in training.layers for node in training.variables.writes.get(other.variable, ())}
    graphs = {training.op(node).graph for node in nodes}  # of a function that only tests, the uses say nothing
    uses = [other.node for other in training.layers if other.variable == layer.variable]
    last = max((node for node in uses if training.op(node).graph in graphs), default=None)
    after = {node for node in nodes if last is not None and node > last}
    for some in (nodes, after):
        found = {frame for node in some if (frame := training.frame(node)) is not None}
        if len(found) == 1:
            return found.pop()
    return None


def _cut_at(training: Training, layer: Layer) -> Frame | None:
    """Finds where the gradient is stopped behind the layer."""
    for node in training.flow.nodes():
        if training.op(node).kind == Kind.STOP_GRADIENT:
            behind = {place.node for places in training.flow.inputs(node) for place in places if not place.is_given}
            if any(layer.node in training.flow.ancestors(one) for one in behind):
                return training.frame(node)
    return None


def _made_text(made: Frame | None) -> tuple[str, ...]:
    return (f"it is created at {made.file.rsplit('/', 1)[-1]}:{made.line}",) if made is not None else ()


def _is_rounded_away(training: Training, layer: Layer, weight: Series) -> bool:
    update = training.in_training(layer.update) if layer.update is not None else None
    return update is not None and is_lost(update, weight)


def _no_gradient(training: Training, layer: Layer) -> str:
    if layer.node.op in training.differentiated:
        return "its gradient is not used"
    return "no gradient is taken for it"


def _why(training: Training, layer: Layer) -> tuple[str, ...]:
    assert layer.gradient is not None
    known = f"its gradient has rms {layer.gradient.rms[-1]:.2g}"
    if layer.variable not in training.variables.writes:
        return (known, "nothing writes to it: it is not among the variables passed to the optimizer")
    if layer.update is None:
        return (known,)
    update = layer.update.rms[-1]
    if update == 0:
        return (known, "what is subtracted in each step is exactly 0: check the learning rate, or a mask")
    return (known, f"what is subtracted has rms {update:.2g}, lost to rounding next to {layer.weight.rms[-1]:.2g}")


def _is_used_in_training(training: Training, node: Node) -> bool:
    """Whether a gradient passes through the layer, or through something that its output goes into."""
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
    """Finds the user's own line that makes the variable, unless the program says that it stays as it is or loads it."""
    signs = training.dialect(layer.node).signs
    made = training.variables.created.get(layer.variable)
    if layer.variable in training.variables.loaded:
        return None
    if made is None and not training.lines.is_of_library(training.op(layer.node)):
        return None
    if made is None or made.is_of_layer:
        is_frozen = any(signs.frozen.search(text) for text in training.program.sources())
        return None if is_frozen or not _learns(training) else training.made_at(layer.node)
    text = training.program.statement_text(made.frame)
    is_plain = signs.variable.search(text) and not signs.trainable.search(text)
    return made.frame if is_plain and _learns(training) else None


def _learns(training: Training) -> bool:
    """Whether any layer changes: else it is an input that is trained, as for an adversarial example."""
    return any(not is_same(layer.weight) for layer in training.layers)
