"""Finds the loss: exactly where the trace tells of what gradients were taken, else with a note on what it is.

The one place that decides what the loss is: for the page, the report, the verdict and the rules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from tdbg.frameworks import dialect_of
from tdbg.model import DType, Flag, Phase
from tdbg.query.rules.flow import Flow
from tdbg.query.rules.sample import NO_STEPS
from tdbg.query.rules.series import Node, Place
from tdbg.query.trace.program import Op, Program, short_path
from tdbg.query.trace.rows import Rows
from tdbg.vocabulary import Kind, Role

_OUTPUT = f"flags & {int(Flag.EVIDENCE)} = 0 AND flags & {int(Flag.INPUT)} = 0"
_GUESSED = "the last scalar that was differentiated, as far as tdbg can tell"


class _Target(NamedTuple):
    op: Op
    slot: int
    tensor: int
    variables: int


@dataclass(frozen=True, slots=True)
class Loss:
    """One output of an op, and the same op of functions that were traced again. ``note``: "" when this is the loss for
    certain, else what it is."""

    ops: tuple[int, ...]  # the one that was seen in most steps first
    slot: int
    name: str
    note: str = ""
    is_guessed: bool = False  # nothing says that gradients are taken of just this


def find_losses(rows: Rows, program: Program, process: int) -> list[Loss]:
    """Finds what a gradient was taken of for variables; the one of most steps first. Several: a GAN, or a sum of
    targets."""
    targets = _targets(rows, program, process)
    outputs = dict.fromkeys(output for target in targets for output in _computed(rows, program, process, target))
    steps = _steps(rows, process, [op for op, _ in outputs])
    seen: dict[tuple, list[tuple[int, int, int]]] = defaultdict(list)
    for op, slot in outputs:
        if (op, slot) in steps:
            made = program.ops[op]
            seen[made.name, slot, program.user_frame(made)].append((steps[op, slot], op, slot))
    groups = sorted((sorted(group, reverse=True) for group in seen.values()), key=_last_of_most, reverse=True)
    if not groups:
        return _guessed(rows, program, process, targets)
    note = f"one of {len(groups)} tensors that gradients are taken of" if len(groups) > 1 else ""
    return [
        Loss(tuple(op for _, op, _ in group), group[0][2], output_name(program, program.ops[group[0][1]]), note)
        for group in groups
    ]


def output_name(program: Program, op: Op) -> str:
    """``AddV2, train.py:12``"""
    frame = program.user_frame(op)
    return op.label + (f", {short_path(frame.file)}:{frame.line}" if frame else "")


def _last_of_most(group: list[tuple[int, int, int]]) -> tuple[int, int]:
    return sum(steps for steps, _, _ in group), group[0][1]


def _targets(rows: Rows, program: Program, process: int) -> list[_Target]:
    """Reads those for variables, if there are any: a gradient for an input (of a penalty, say) is no training."""
    found = [
        _Target(program.ops[op], slot, tensor, variables)
        for op, slot, tensor, variables in rows.query(
            f"SELECT op, slot, tensor, variables FROM targets WHERE process = {process} ORDER BY op"
        )
        if op in program.ops
    ]
    training = {op.graph for op in program.ops.values() if op.phase == Phase.BACKWARD}
    # A Session may compute the loss without training, too, for validation: that is another graph.
    found = [target for target in found if target.op.graph < 0 or target.op.graph in training]
    return [target for target in found if target.variables] or found


def _computed(rows: Rows, program: Program, process: int, target: _Target) -> Iterator[tuple[int, int]]:
    """Finds the tensors that have rows behind a target: the results of calls, what was moved, what was scaled."""
    flow = Flow(rows, program, process, NO_STEPS)
    for op, slot in _of_eager(rows, program, process, target) if target.op.graph < 0 else [(target.op, target.slot)]:
        if op.graph < 0:
            yield op.number, slot
            continue
        for place in flow.resolve(Place(Node(op.number, 0), slot), through_casts=False):
            yield from ((one.node.op, one.slot) for one in _unscaled(program, flow, place))


def _unscaled(program: Program, flow: Flow, place: Place) -> tuple[Place, ...]:
    is_scaled = _is_scaling(program, program.ops[place.node.op])
    inputs = flow.inputs(place.node, through_casts=False) if is_scaled else []
    return inputs[0] if inputs and inputs[0] else (place,)


def _of_eager(rows: Rows, program: Program, process: int, target: _Target) -> list[tuple[Op, int]]:
    if Role.CALLS in target.op.roles:
        found = rows.query(
            f"SELECT e.graph, list_position(n.outputs, {target.tensor}) - 1 FROM ends n JOIN executions e "
            f"USING (process, execution) WHERE process = {process} AND e.op = {target.op.number} "
            f"AND list_contains(n.outputs, {target.tensor})"
        )
        functions = [(program.functions.get(graph), at) for graph, at in found]
        results = [function.results[at] for function, at in functions if function and at < len(function.results)]
        return [(program.ops[op], slot) for op, slot in results if op in program.ops]
    if Role.MOVES in target.op.roles or _is_scaling(program, target.op):
        found = rows.query(
            "SELECT t.op, t.slot FROM executions e JOIN tensors t ON t.process = e.process AND t.tensor = e.inputs[1] "
            f"AND t.seq <= e.seq WHERE e.process = {process} AND e.op = {target.op.number} AND {_OUTPUT} LIMIT 1"
        )
        return [(program.ops[op], slot) for op, slot in found if op in program.ops]
    return [(target.op, target.slot)]


def _is_scaling(program: Program, op: Op) -> bool:
    """Whether an optimizer that scales the loss multiplies here: the loss is what goes in."""
    scaling = dialect_of(op.framework).signs.loss_scaling
    return op.kind == Kind.MULTIPLY and any(scaling.search(frame.function) for frame in program.stack(op.stack)[:12])


def _steps(rows: Rows, process: int, ops: list[int]) -> dict[tuple[int, int], int]:
    """Counts the steps in which each output was seen."""
    if not ops:
        return {}
    found = rows.query(
        f"SELECT op, slot, count(DISTINCT step) FROM tensors WHERE process = {process} AND {_OUTPUT} "
        "AND op IN (SELECT unnest(?)) GROUP BY 1, 2",
        [ops],
    )
    return {(op, slot): steps for op, slot, steps in found}


def _guessed(rows: Rows, program: Program, process: int, targets: list[_Target]) -> list[Loss]:
    """Takes the scalar that was differentiated in most steps; of several the one that was made last, which nothing
    follows."""
    ops = program.ops
    wanted = {op.forward for op in ops.values() if op.phase == Phase.BACKWARD}
    wanted = {number for number in wanted if number in ops and ops[number].phase == Phase.FORWARD}
    eager = [op for op in ops.values() if op.graph < 0 and op.phase != Phase.BACKWARD]
    wanted |= {op.number for op in eager if Role.CALLS in op.roles}
    found = rows.query(
        f"SELECT op FROM tensors WHERE process = {process} AND elements = 1 AND slot = 0 AND {_OUTPUT} "
        f"AND dtype BETWEEN {int(DType.FLOAT16)} AND {int(DType.FLOAT64)} "
        "AND op IN (SELECT unnest(?::INTEGER[])) GROUP BY op ORDER BY count(DISTINCT step) DESC, op DESC LIMIT 1",
        [sorted(wanted)],
    )
    if not found:
        return []
    note = _GUESSED
    if targets:
        note = f"a part of the loss; the loss itself ({output_name(program, targets[-1].op)}) is never computed"
    return [Loss((found[0][0],), 0, output_name(program, ops[found[0][0]]), note, True)]
