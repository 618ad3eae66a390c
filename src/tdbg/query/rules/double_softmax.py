"""A softmax of what is a softmax already."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.training import SOFTMAX_LOSSES, Training


@rule(
    "double_softmax",
    why="the second softmax sees numbers between 0 and 1, so its result is almost uniform and the gradient is small",
    fix="give the loss the logits: no softmax on the last layer, or from_logits=False where the loss has that",
    steps=0,
)
def double_softmax(training: Training) -> Iterator[Finding]:
    for series in training.outputs("Softmax"):
        node = series.place.node
        for reader, at in training.flow.readers.get(node, ()):
            kind = training.op(reader).type
            if at == 0 and kind in ("Softmax", "LogSoftmax", *SOFTMAX_LOSSES):
                text = f"{kind} is given the output of {training.name(node)}, not logits"
                frame = training.frame(node)
                made = f"{frame.file.rsplit('/', 1)[-1]}:{frame.line}" if frame else "the program"
                yield Finding(reader, int(series.step[0]), text, (f"the first softmax is made by {made}",))
