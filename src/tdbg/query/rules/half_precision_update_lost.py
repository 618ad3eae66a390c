"""Weights in float16 or bfloat16 whose updates round to nothing."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.model import DType
from tdbg.query.rules import Finding, rule
from tdbg.query.rules.lost_updates import HALF, LAST, STEPS, is_lost, is_same
from tdbg.query.rules.training import Training


@rule(
    "half_precision_update_lost",
    why="float16 keeps 3 digits and bfloat16 2: adding an update a thousand times smaller leaves a weight unchanged",
    fix="keep the weights in float32 and compute in half precision ({half_precision})",
    steps=STEPS,
)
def half_precision_update_lost(training: Training) -> Iterator[Finding]:
    done = set()
    for layer in training.layers:
        update = training.in_training(layer.update) if layer.update is not None else None
        weight = training.in_training(layer.weight)
        if layer.variable in done or update is None or weight is None or DType(weight.dtype) not in HALF:
            continue
        done.add(layer.variable)
        if not is_lost(update, weight):
            continue
        kind, steps = DType(weight.dtype).label, f"step {weight.step[-LAST]} to step {weight.step[-1]}"
        what = "leave it unchanged" if is_same(weight.last(LAST)) else "are too small to change it"
        text = f"the weight of {layer.name} is {kind}, and its updates {what} from {steps}"
        numbers = f"update rms {update.rms[-1]:.2g}, weight rms {weight.rms[-1]:.2g} at step {update.step[-1]}"
        yield Finding(layer.node, int(update.step[-LAST]), text, (numbers,))
