"""Half-precision gradients that lie below the smallest normal number, all of them."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tdbg.model import Phase
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.series import Series
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _SMALLEST_NORMAL, _FEWEST_ELEMENTS = 5, 2.0**-14, 16


@rule(
    "half_underflow",
    why="below 6.1e-5 float16 has fewer and fewer digits, and below 6e-8 none: much of this is rounded to zero",
    fix="scale the loss ({loss_scaling}), or use bfloat16",
    steps=_STEPS,
)
def half_underflow(training: Training) -> Iterator[Finding]:
    for series in training.outputs(phase=Phase.BACKWARD):
        if not training.is_half(series):
            continue
        seen = training.in_training(series)
        if seen is None or len(seen) < _STEPS or seen.elements[-1] < _FEWEST_ELEMENTS:
            continue
        last, name = seen.last(_STEPS), training.name(series.place.node)
        if np.all(last.largest < _SMALLEST_NORMAL) and np.any(last.largest > 0):
            text = f"no element of {name} is above {last.largest.max():.2g} in float16"
            share = last.zero.sum() / last.elements.sum()
            yield Finding(series.place.node, int(seen.step[0]), text, (f"{share:.0%} of it is exactly 0",))
        elif np.all(last.largest == 0) and (wide := _before_cast(training, seen)) is not None:
            text = f"all of {name} is rounded to 0 in float16"
            evidence = f"before the cast it goes up to {wide.last(_STEPS).largest.max():.2g}"
            yield Finding(series.place.node, int(seen.step[0]), text, (evidence,))


def _before_cast(training: Training, half: Series) -> Series | None:
    """Takes what was cast to float16, if that was not 0 in any of the last steps."""
    inputs = training.flow.inputs(half.place.node) if training.op(half.place.node).kind == Kind.CAST else ()
    wide = training.at(inputs[0][0]) if inputs and inputs[0] else None
    wide = training.in_training(wide) if wide is not None else None
    return wide if wide is not None and np.all(wide.last(_STEPS).largest > 0) else None
