"""The origin of bad values in, how far they spread out: the loss, the gradients, the weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tdbg.model import Phase
from tdbg.query.program import Program
from tdbg.query.rows import IS_BAD, Row, Rows


@dataclass(frozen=True, slots=True)
class Reach:
    """What was bad after the origin."""

    tensors: int
    loss: bool
    gradients: int
    weights: int
    all_weights: int
    last_step: int

    def as_text(self) -> str:
        parts = []
        if self.loss:
            parts.append("the loss")
        if self.gradients:
            parts.append(f"{self.gradients:,} gradient tensor{'s' if self.gradients > 1 else ''}")
        if self.weights:
            parts.append(f"{self.weights:,} of {self.all_weights:,} variables (by step {self.last_step})")
        if not parts and self.tensors > 1:
            parts.append(f"{self.tensors:,} tensors")
        return " → ".join(parts)

    def as_dict(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


def find_reach(rows: Rows, program: Program, process: int, origin: Row) -> Reach:
    """Counts over everything bad from the origin on, in its step and later."""
    bad = f"process = {process} AND seq >= {origin.seq} AND {IS_BAD}"
    per_op = rows.query(f"SELECT op, min(step), min(elements) FROM tensors WHERE {bad} GROUP BY op")
    variables: dict[str, int] = {}
    gradients, loss = 0, False
    trains = any(op.phase == Phase.BACKWARD for op in program.ops.values())
    for number, step, elements in per_op:
        op = program.ops.get(number)
        if op is None:
            continue
        if op.type == "ReadVariableOp":
            name = _variable(program, number)
            variables[name] = min(step, variables.get(name, step))
        elif op.phase == Phase.BACKWARD:
            gradients += 1
        elif elements == 1 and op.phase == Phase.FORWARD and trains:
            loss = True
    recorded = rows.query(f"SELECT DISTINCT op FROM tensors WHERE process = {process}")
    reads = {_variable(program, number) for (number,) in recorded if _is_read(program, number)}
    return Reach(len(per_op), loss, gradients, len(variables), len(reads), max(variables.values(), default=origin.step))


def _is_read(program: Program, number: int) -> bool:
    return number in program.ops and program.ops[number].type == "ReadVariableOp"


def _variable(program: Program, number: int) -> str:
    """One name for all reads of a variable in one graph, or at one place of eager code."""
    op = program.ops[number]
    return f"{op.graph}/{program.variable_of(op)}/{op.stack if op.graph < 0 else ''}"
