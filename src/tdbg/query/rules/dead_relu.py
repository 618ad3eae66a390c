"""A ReLU whose whole output is zero, step after step."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.sick_layers import reason_for
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _FEWEST_ELEMENTS = 5, 8


@rule(
    "dead_relu",
    why="a ReLU that gives only zeros passes no gradient back, so it and everything before it stop learning",
    fix="try a smaller learning rate, a smaller or He initialisation, no large negative bias, or LeakyReLU",
    steps=_STEPS,
)
def dead_relu(training: Training) -> Iterator[Finding]:
    for series in training.outputs(Kind.RELU, Kind.RELU6):
        seen = training.in_training(series)
        if seen is None or len(seen) < _STEPS or series.place.node.op not in training.differentiated:
            continue
        dead = (seen.positive == 0) & (seen.negative == 0) & (seen.zero == seen.elements)
        if dead[-_STEPS:].all() and seen.elements[-1] >= _FEWEST_ELEMENTS:
            alive = [step for step, is_dead in zip(seen.step, dead, strict=True) if not is_dead]
            since = next(step for step in seen.step if not alive or step > alive[-1])
            name, count = training.name(series.place.node), int(seen.elements[-1])
            text = f"{name} is all zeros ({count:,} of {count:,}) from step {since} to step {seen.step[-1]}"
            before = [f"it was alive until step {alive[-1]}"] if alive else ["it was never alive"]
            reason = reason_for(training, series.place.node, since)
            yield Finding(series.place.node, since, text, (*before, *reason.evidence), reason.frame)
