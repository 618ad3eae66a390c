"""Data that goes into the first layer as it is, tens or thousands in size."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Role

_STEPS, _LARGEST = 3, 25.0


@rule(
    "unnormalised_inputs",
    why="layers are initialised for inputs of about size 1: with larger inputs the first steps are far too large, and "
    "large features drown out small ones",
    fix="divide by the range (images: x / 255), or subtract the mean and divide by the standard deviation",
    steps=_STEPS,
)
def unnormalised_inputs(training: Training) -> Iterator[Finding]:
    for layer in training.layers:
        if layer.node.op not in training.differentiated:
            continue
        for place in layer.given:
            series = training.at(place)
            is_data = place.is_given or Role.ENTERS in training.op(place.node).roles
            if series is None or not is_data:
                continue
            seen = training.in_training(series) or (series if place.is_given else None)
            if seen is None or seen.elements[-1] < 2:
                continue
            if np.all(seen.rms[-_STEPS:] > _LARGEST):
                text = f"the input of {layer.name} has mean {seen.mean[-1]:.3g} and std {seen.std[-1]:.3g}"
                evidence = f"min {seen.min.min():.4g}, max {seen.max.max():.4g}; nothing scales it on the way"
                yield Finding(layer.node, int(seen.step[0]), text, (evidence,))
