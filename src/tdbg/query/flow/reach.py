"""Finds how far bad values spread from where they began: to the loss, the gradients, the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow.compute as pc

from tdbg.model import Phase
from tdbg.query.rules.losses import find_losses
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Row, Rows
from tdbg.vocabulary import Kind


@dataclass(frozen=True, slots=True)
class Reach:
    """What was bad after the origin."""

    tensors: int
    loss: bool
    gradients: int
    weights: int  # variables that are trained, as far as the trace tells; else all variables
    all_weights: int
    state: int  # an optimizer's own variables, metrics, moving statistics
    all_state: int
    is_trained: bool  # whether weights and state could be told apart
    last_step: int
    order: tuple[str, ...] = ("loss", "gradients", "weights")  # in which they went bad
    reads: tuple[str, ...] = ()  # native types of the ops that read those variables

    def as_text(self) -> str:
        parts = {}
        if self.loss:
            parts["loss"] = "the loss"
        if self.gradients:
            parts["gradients"] = f"{self.gradients:,} gradient tensor{'s' if self.gradients > 1 else ''}"
        kinds = [(self.weights, self.all_weights, "weights" if self.is_trained else "variables")]
        kinds += [(self.state, self.all_state, "other variables")]
        variables = [f"{bad:,} of {all_:,} {name}" for bad, all_, name in kinds if bad]
        if variables:
            parts["weights"] = f"{' and '.join(variables)} (by step {self.last_step})"
        if not parts and self.tensors > 1:
            return f"{self.tensors:,} tensors"
        return " → ".join(parts[name] for name in self.order if name in parts)

    def as_dict(self) -> dict[str, Any]:
        told = {name: getattr(self, name) for name in self.__slots__ if name != "reads"}
        return told | {"order": list(self.order)}


NOWHERE = Reach(1, False, 0, 0, 0, 0, 0, False, 0, ())


def find_reach(rows: Rows, program: Program, process: int, origin: Row) -> Reach:
    """Counts everything bad from the origin on, in its step and later."""
    per_op = rows.bad_ops(process, origin.seq)
    variables: dict[str, int] = {}
    types: set[str] = set()
    gradients, loss = 0, False
    losses = find_losses(rows, program, process)
    loss_ops = {op for one in losses for op in one.ops}
    trains = any(op.phase == Phase.BACKWARD for op in program.ops.values())
    is_guessed = trains and (not losses or any(one.is_guessed for one in losses))
    firsts: dict[str, tuple[int, int]] = {}  # the step and the event in which each went bad
    for number, step, elements, seq in per_op:
        op = program.ops.get(number)
        if op is None:
            continue
        part = None
        if op.kind == Kind.READ:
            part = "weights"
            types.add(op.type)
            name = _variable(program, number)
            variables[name] = min(step, variables.get(name, step))
        elif op.phase == Phase.BACKWARD:
            gradients += 1
            part = "gradients"
        elif number in loss_ops or (is_guessed and elements == 1 and op.phase == Phase.FORWARD):
            loss = True
            part = "loss"
        if part is not None:
            firsts[part] = min((step, seq), firsts.get(part, (step, seq)))
    recorded = set(rows.ops.filter(pc.equal(rows.ops["process"], process))["op"].to_pylist())
    reads = {_variable(program, number) for number in recorded if _is_read(program, number)}
    trained = _trained(program) & reads
    weights, state = (trained, reads - trained) if trained else (reads, set())
    return Reach(
        len(per_op),
        loss,
        gradients,
        len(weights & variables.keys()),
        len(weights),
        len(state & variables.keys()),
        len(state),
        bool(trained),
        max(variables.values(), default=origin.step),
        _order(firsts),
        tuple(sorted(types)),
    )


def _order(firsts: dict[str, tuple[int, int]]) -> tuple[str, ...]:
    """Puts a step's loss before its gradients, though a graph may compute both at the same time."""
    loss, gradients = firsts.get("loss"), firsts.get("gradients")
    if loss and gradients and loss[0] == gradients[0]:
        firsts = firsts | {"loss": min(loss, gradients)}
    return tuple(sorted(firsts, key=lambda part: (firsts[part], part == "gradients")))


def _trained(program: Program) -> set[str]:
    """Finds the variables whose reads are differentiated: an op that takes such a read has an op of a gradient. In
    eager code ops do not tell what they read, so there a read of the forward pass counts."""
    differentiated = {op.forward for op in program.ops.values() if op.phase == Phase.BACKWARD and op.forward >= 0}
    is_eager = any(program.ops[number].graph < 0 for number in differentiated if number in program.ops)
    found = set()
    for op in program.ops.values():
        if op.kind != Kind.READ or op.phase != Phase.FORWARD:
            continue
        if (op.graph < 0 and is_eager) or _is_taken_by(program, op.number, differentiated):
            found.add(_variable(program, op.number))
    return found


def _is_taken_by(program: Program, number: int, wanted: set[int]) -> bool:
    """Tells whether one of these ops takes the output of an op, through ops that only move it or change its type."""
    readers = program.graph.readers_beyond(number, lambda one: not one.observed or one.kind == Kind.CAST)
    return any(reader.number in wanted for reader in readers)


def _is_read(program: Program, number: int) -> bool:
    return number in program.ops and program.ops[number].kind == Kind.READ


def _variable(program: Program, number: int) -> str:
    """Gives one name to all reads of a variable in one graph, or at one place of eager code; for a Session's variable,
    which all its graphs name alike, in all of them."""
    op = program.ops[number]
    holder = program.ops.get(op.inputs[0][0]) if op.inputs else None
    if op.graph >= 0 and holder is not None and (holder.kind == Kind.VARIABLE or holder.number == number):
        return holder.name  # a reference variable is its own handle
    return f"{op.graph}/{program.variable_of(op)}/{op.stack if op.graph < 0 else ''}"
