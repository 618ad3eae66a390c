"""Class labels that count from 1 where they should count from 0."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.labels import find_labels
from tdbg.query.rules.training import Training


@rule(
    "labels_shifted",
    why="class 0 never comes, the last class has no output, and every label stands for the class after it",
    fix="subtract 1 from the labels",
    steps=0,
)
def labels_shifted(training: Training) -> Iterator[Finding]:
    for labels in find_labels(training):
        if labels.least == 1 and labels.greatest == labels.classes and labels.classes > 2:
            text = f"labels go from 1 to {labels.classes}; with {labels.classes} classes they go from 0"
            yield Finding(labels.node, int(labels.series.step[0]), text)
