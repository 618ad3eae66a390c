"""Class labels that there is no class for."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.labels import find_labels
from tdbg.query.rules.training import Training


@rule(
    "labels_out_of_range",
    why="a one-hot code of such a label is all zeros and teaches nothing; a sparse loss fails on a CPU and gives NaN "
    "on a GPU",
    fix="use as many outputs as there are classes, and number the classes from 0",
    steps=0,
)
def labels_out_of_range(training: Training) -> Iterator[Finding]:
    for labels in find_labels(training):
        is_shifted = labels.least == 1 and labels.greatest == labels.classes  # has a rule of its own
        if labels.greatest >= labels.classes and not is_shifted:
            at = labels.series.max >= labels.classes
            name = training.op(labels.node).type
            text = f"labels go from {labels.least} to {labels.greatest}, and {name} has {labels.classes} classes"
            yield Finding(labels.node, int(labels.series.step[at][0]), text)
