"""A layer whose weights all begin with the same number, so that its units stay copies of each other."""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.training import Training

_STEPS = 3


@rule(
    "symmetric_weights",
    why="units with the same weights get the same gradient, so they stay alike, and the layer learns as one unit",
    fix="use a random initialiser: {random_initialiser}",
    steps=_STEPS,
)
def symmetric_weights(training: Training) -> Iterator[Finding]:
    done = set()
    for layer in training.layers:
        weight, dims = layer.weight, training.dims(layer.weight)
        is_trained = layer.variable in training.variables.writes
        if layer.variable in done or not is_trained or len(dims) < 2 or min(dims[-2:]) < 2:
            continue
        done.add(layer.variable)
        # Zeros alone are another story: an output or a residual branch may well begin so, and learns.
        stays = " and stay so" if weight.rms.max() == 0 else ""
        if weight.min[0] != weight.max[0] or weight.step[0] > training.steps[0] + 1:
            continue
        if weight.mean[0] != 0 or (stays and layer.node.op in training.differentiated):
            text = f"all {int(weight.elements[0]):,} weights of {layer.name} start as {weight.mean[0]:.4g}{stays}"
            made = training.variables.created.get(layer.variable)
            frame = training.made_at(layer.node) if made is None or made.is_of_layer else made.frame
            yield Finding(layer.node, int(weight.step[0]), text, (), frame)
