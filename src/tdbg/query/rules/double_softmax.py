"""A softmax of what is a softmax already; a sigmoid of what is a sigmoid."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Node
from tdbg.query.rules.training import Training
from tdbg.vocabulary import CROSS_ENTROPIES, SOFTMAXES, Kind

_STEPS_INSIDE = (Kind.EXP, Kind.NEGATE, Kind.ABS, Kind.SELECT)


@rule(
    "double_softmax",
    why="the second softmax sees numbers between 0 and 1, so its result is almost uniform and the gradient is small",
    fix="pass logits to the loss: no softmax on the last layer, or {a_loss_of_probabilities}",
    steps=0,
)
def double_softmax(training: Training) -> Iterator[Finding]:
    for series in training.outputs(Kind.SOFTMAX):
        node = series.place.node
        for reader, at in training.flow.readers.get(node, ()):
            op = training.op(reader)
            if at == 0 and op.kind in SOFTMAXES | CROSS_ENTROPIES:
                text = f"{op.type} is given the output of {training.name(node)}, not logits"
                frame = training.frame(node)
                made = f"{frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame else "the program"
                # Where a library's loss or layer takes it, the line to change is that of the first.
                line = training.made_at(node) if training.lines.is_of_library(op) else None
                yield Finding(reader, int(series.step[0]), text, (f"the first softmax is at {made}",), line)
    for node, quotient in _by_hand(training):
        text = f"{training.op(node).type} is given a softmax that is written out, not logits"
        yield Finding(node, int(min(training.steps, default=0)), text, (), training.frame(quotient))
    for node in training.flow.nodes():
        is_entropy = training.op(node).kind == Kind.LOG1P and node.op in training.differentiated
        sigmoid = _sigmoid_inside(training, node) if is_entropy else None
        if sigmoid is not None:
            text = f"a cross-entropy of logits is given the output of {training.name(sigmoid)}, not logits"
            yield Finding(node, int(min(training.steps, default=0)), text, (), training.made_at(sigmoid))


def _by_hand(training: Training) -> Iterator[tuple[Node, Node]]:
    """Finds each loss that takes logits and reads ``exp(x) / sum(exp(x))``, and that quotient."""
    for node in training.flow.nodes():
        if training.op(node).kind not in CROSS_ENTROPIES:
            continue
        for place in training.flow.inputs(node)[0]:
            if place.is_given or training.op(place.node).kind != Kind.DIVIDE:
                continue
            above, below = (_makers(training, place.node, at) for at in (0, 1))
            sums = [one for one in below if training.op(one).kind == Kind.SUM]
            exponentials = {one for one in above if training.op(one).kind == Kind.EXP}
            if any(exponentials & _makers(training, one, 0) for one in sums):
                yield node, place.node


def _makers(training: Training, node: Node, at: int) -> set[Node]:
    inputs = training.flow.inputs(node)
    return {place.node for place in (inputs[at] if at < len(inputs) else ()) if not place.is_given}


def _sigmoid_inside(training: Training, node: Node, depth: int = 0) -> Node | None:
    """Finds the sigmoid in ``log1p(exp(-abs(sigmoid)))``: so the cross-entropy of a sigmoid's logits is computed."""
    for places in training.flow.inputs(node):
        for place in places:
            kind = Kind.OTHER if place.is_given else training.op(place.node).kind
            if kind == Kind.SIGMOID and depth > 1:
                return place.node
            if kind in _STEPS_INSIDE and depth < 4:
                found = _sigmoid_inside(training, place.node, depth + 1)
                if found is not None:
                    return found
    return None
