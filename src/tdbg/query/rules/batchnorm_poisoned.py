"""Moving statistics of a batch normalisation that one extreme batch has thrown far off."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from tdbg.query.rules import Finding, rule
from tdbg.query.rules.flow import Variable
from tdbg.query.rules.series import Node, Series
from tdbg.query.rules.training import Training
from tdbg.vocabulary import Kind

_STEPS, _BEFORE, _JUMP, _STAYS = 10, 4, 1e3, 50.0
_BATCH_NORM = re.compile(r"batch_?norm", re.IGNORECASE)  # in the names of ops and of files


@rule(
    "batchnorm_poisoned",
    why="evaluation uses the moving statistics, so its results are wrong for hundreds of steps",
    fix="find the extreme batch at that step; clip or drop it, and reset the moving statistics",
    steps=_STEPS,
)
def batchnorm_poisoned(training: Training) -> Iterator[Finding]:
    for variable, nodes in training.variables.writes.items():
        if not any(_is_batch_norm(training, node) for node in nodes):
            continue
        series = _values(training, variable, nodes)
        if series is None or len(series) < _STEPS:
            continue
        sizes = series.largest
        with np.errstate(all="ignore"):
            jumps = np.flatnonzero(sizes[1:] > _JUMP * np.maximum(sizes[:-1], 1e-3)) + 1
        for at in jumps:
            usual = max(float(np.median(sizes[:at])), 1e-3)
            # The first steps move the statistics from where they were initialised; that is no jump.
            if at >= _BEFORE and (sizes[at:] > _STAYS * usual).all() and len(sizes) - at >= 3:
                text = f"a moving statistic jumps from at most {sizes[at - 1]:.3g} to {sizes[at]:.3g} and stays high"
                where = f"{training.name(nodes[0])}; at step {series.step[-1]} it is still {sizes[-1]:.3g}"
                yield Finding(nodes[0], int(series.step[at]), text, (where,))
                break


def _is_batch_norm(training: Training, node: Node) -> bool:
    op = training.op(node)
    files = (frame.file for frame in training.program.stack(op.stack))
    return any(_BATCH_NORM.search(text) for text in (op.name, *files))


def _values(training: Training, variable: Variable, nodes: list[Node]) -> Series | None:
    """Tells what the variable holds: as it was assigned, else as it was read."""
    for node in nodes:
        if training.op(node).kind == Kind.ASSIGN:
            inputs = training.flow.inputs(node)
            for place in inputs[1] if len(inputs) > 1 else ():
                found = training.at(place)
                if found is not None:
                    return training.in_training(found)
    found = training.variables.reads.get(variable)
    return training.in_training(found) if found is not None else None
