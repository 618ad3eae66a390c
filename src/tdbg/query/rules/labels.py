"""Finds the class labels of a program's losses, with their numbers and the number of classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind


class Labels(NamedTuple):
    """Whole numbers that stand for classes, where they become one."""

    node: Node
    series: Series
    classes: int

    @property
    def least(self) -> int:
        return int(self.series.min.min())

    @property
    def greatest(self) -> int:
        return int(self.series.max.max())

    @property
    def total(self) -> int:
        return int(self.series.elements.sum())


def find_labels(training: Training) -> Iterator[Labels]:
    """Finds those of losses that take class numbers, and of one-hot codes."""
    for node in training.flow.nodes():
        kind = training.op(node).kind
        if kind not in (Kind.SPARSE_SOFTMAX_CROSS_ENTROPY, Kind.ONE_HOT):
            continue
        places = training.flow.inputs(node)
        logits_or_labels = 0 if kind == Kind.ONE_HOT else 1
        if len(places) <= logits_or_labels:
            continue
        classes = _classes(training, node, kind)
        for place in places[logits_or_labels]:
            series = training.at(place)
            if series is not None and classes > 1:
                yield Labels(node, series, classes)


def _classes(training: Training, node: Node, kind: Kind) -> int:
    if kind == Kind.ONE_HOT:
        coded = training.series(node)
        return training.dims(coded)[-1] if coded is not None and training.dims(coded) else 0
    dims = training.shape_of_input(node, 0)
    return dims[-1] if dims else 0
