"""Class labels that count from 1 where they should count from 0."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.labels import Labels, find_labels
from tdbg.query.rules.training import Training

_MOST_CLASSES, _CHANCE = 100, 1e-9


@rule(
    "labels_shifted",
    why="class 0 never occurs: every label is one too high, so one output has no class, or one class has no output",
    fix="subtract 1 from the labels, and give the last layer as many outputs as there are classes",
    steps=0,
)
def labels_shifted(training: Training) -> Iterator[Finding]:
    for labels in find_labels(training):
        if labels.least != 1 or labels.classes <= 2:
            continue
        if labels.greatest == labels.classes:
            text = f"labels go from 1 to {labels.classes}; with {labels.classes} classes they should start at 0"
            yield Finding(labels.node, int(labels.series.step[0]), text)
        elif labels.greatest == labels.classes - 1 and _is_missed(training, labels):
            text = f"{labels.total:,} labels go from 1 to {labels.greatest}: class 0 of {labels.classes} never occurs"
            yield Finding(labels.node, int(labels.series.step[0]), text)


def _is_missed(training: Training, labels: Labels) -> bool:
    """Whether there is one label for each sample (in sequences 0 is often kept for padding), and so many that chance
    cannot be why one is missing."""
    dims = training.dims(labels.series)
    is_of_samples = len(dims) == 1 or (len(dims) == 2 and dims[1] == 1)
    by_chance = (1 - 1 / labels.classes) ** labels.total
    return is_of_samples and labels.classes <= _MOST_CLASSES and by_chance < _CHANCE
