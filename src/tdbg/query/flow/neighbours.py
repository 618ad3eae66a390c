"""Tells whose values an op is given, and which ops are given its own, alike in graphs and in eager code."""

from __future__ import annotations

from tdbg.query.flow.eager_edges import EagerEdges, Made
from tdbg.query.trace.op import Op
from tdbg.query.trace.program import Program


class Neighbours:
    """The edges of the ops of one process."""

    def __init__(self, program: Program, eager: EagerEdges) -> None:
        self._graph, self._eager = program.graph, eager

    def inputs(self, op: Op) -> list[Made]:
        """Finds what an op is given, in order, as far as that is known."""
        if op.graph < 0:
            return self._eager.inputs(op.number)
        return [Made(number, slot, False) for number, slot in op.inputs if number != op.number]

    def recipients(self, op: Op) -> list[tuple[int, int]]:
        """Finds which ops are given its outputs: (op, number of the output)."""
        if op.graph < 0:
            return self._eager.recipients(op.number)
        return [(reader.number, slot) for reader, slot in self._graph.recipients.get(op.number, ())]

    def before(self, op: Op) -> list[int]:
        """Finds the ops that must have run before, though nothing of them is taken."""
        return self._graph.runs_before.get(op.number, [])

    def after(self, op: Op) -> list[int]:
        """Finds the ops that must wait for this one, and take nothing of it."""
        return self._graph.runs_after.get(op.number, [])
