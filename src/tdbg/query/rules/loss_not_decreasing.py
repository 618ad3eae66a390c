"""A loss that rises, or that stays where guessing would leave it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Series
from tdbg.query.rules.training import Training
from tdbg.vocabulary import CROSS_ENTROPIES

_STEPS, _PART, _LONG = 32, 8, 64
_RISE, _NEAR = 2.0, 0.02


@rule(
    "loss_not_decreasing",
    why="the model does not learn, or it forgets what it learned",
    fix="try another learning rate; check the labels, the loss's sign, and that inputs and labels are shuffled alike",
    steps=_STEPS,
)
def loss_not_decreasing(training: Training) -> Iterator[Finding]:
    loss = training.in_training(training.loss) if training.loss is not None else None
    if loss is None or len(loss) < _STEPS:
        return
    first, last = loss.mean[:_PART], loss.mean[-_PART:]
    name, node = training.name(loss.place.node), loss.place.node
    numbers = f"median {np.median(first):.4g} over the first {_PART} steps, {np.median(last):.4g} over the last {_PART}"
    if np.median(first) > 0 and np.median(last) > _RISE * np.median(first) and last.min() > first.max():
        yield Finding(node, int(loss.step[0]), f"the loss ({name}) rises", (numbers,))
        return
    classes = _classes(training)
    if len(loss) < _LONG or classes < 2:
        return
    middle = loss.mean[len(loss) // 4 :]
    per_sample = _per_sample(training)
    if per_sample is None:
        return
    guess = float(np.log(classes))
    if abs(np.median(per_sample.mean[-_PART:]) - guess) < _NEAR * guess and (
        np.median(middle) > np.median(first) * (1 - _NEAR)
    ):
        text = f"after {int(loss.step[-1])} steps the loss is that of guessing among {classes} classes ({guess:.3g})"
        yield Finding(node, int(loss.step[0]), text, (numbers,))


def _per_sample(training: Training) -> Series | None:
    found = [series for series in training.outputs(*CROSS_ENTROPIES) if series.place.slot == 0]
    return training.in_training(found[0]) if len(found) == 1 else None


def _classes(training: Training) -> int:
    series = _per_sample(training)
    dims = training.shape_of_input(series.place.node, 0) if series is not None else None
    return dims[-1] if dims else 0
