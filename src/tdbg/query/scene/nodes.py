"""Finds a node by its name, with what is around it: inputs, recipients, attributes and the lines that created it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import NamedTuple

from tdbg.errors import TdbgError
from tdbg.model import Phase
from tdbg.query.flow.neighbours import Neighbours
from tdbg.query.scene.ops import INPUT, Ops, parsed
from tdbg.query.scene.texts import Texts
from tdbg.query.trace.program import Op, Program
from tdbg.scene import Edge, Node


class Here(NamedTuple):
    """What there was at the moment that is looked at: ops that were seen, and graphs that ran."""

    ops: Collection[int]
    graphs: Collection[int]


NOWHERE = Here((), ())


class Nodes:
    """The nodes of one process."""

    def __init__(self, program: Program, ops: Ops, texts: Texts, neighbours: Neighbours) -> None:
        self._program, self._ops, self._texts, self._neighbours = program, ops, texts, neighbours

    def node(self, name: str, here: Here = NOWHERE) -> Node:
        """Finds a node; of several ops with the name, the first of those that are ``here``."""
        named = self._ops.find(name)
        number = self._preferred(named.ops, here)[0]
        found = self.of(number, here)
        if not named.is_input:
            return found
        # What came in from outside is a node of its own, that nothing leads to.
        to_op = [self._edge(number, named.slot or 0, here)]
        return replace(found, name=found.name + INPUT, inputs=[], control_inputs=[], recipients=to_op)

    def _preferred(self, numbers: Sequence[int], here: Here) -> Sequence[int]:
        """Chooses those that were seen, else those of a graph that ran, else all."""
        seen = [number for number in numbers if number in here.ops]
        return seen or [n for n in numbers if self._ops.graphs[self._ops.at[n]] in here.graphs] or numbers

    def of(self, number: int, here: Here = NOWHERE) -> Node:
        ops, program = self._ops, self._program
        op = program.ops.get(number)
        if op is None:
            raise TdbgError(f"there is no op #{number} in this trace")
        at = ops.at[number]
        around = self._neighbours
        return Node(
            name=ops.names[at],
            op_type=ops.types[at],
            device=ops.devices[at],
            inputs=self._inputs(op, here),
            control_inputs=[self._edge(other, -1, here) for other in around.before(op)],
            recipients=[self._edge(reader, slot, here) for reader, slot in around.recipients(op)],
            control_recipients=[self._edge(other, -1, here) for other in around.after(op)],
            attributes={key: _text(value) for key, value in parsed(ops.attributes[at]).items()},
            stack=[(frame, self._texts.line(frame)) for frame in program.shown_stack(op.stack)],
            written_as=", ".join(f"{name} ({kind})" for name, kind in ops.stands_for.get(at, ())),
            graph=ops.functions.get(int(ops.graphs[at]), ""),
            phase=Phase(int(ops.phases[at])).label,
            part_of=ops.whole_of(number),
            framework=ops.frameworks[at],
        )

    def _inputs(self, op: Op, here: Here) -> list[Edge]:
        found = []
        for made in self._neighbours.inputs(op):
            edge = self._edge(made.op, made.slot, here)
            found.append(replace(edge, node=edge.node + INPUT) if made.is_given else edge)
        return found

    def _edge(self, number: int, slot: int, here: Here) -> Edge:
        """Names an op so that the name finds this very one: with its number where others have the same name."""
        at = self._ops.at.get(number, -1)
        if at < 0:
            return Edge("?", slot, "?")
        same = self._preferred(self._ops.named(self._ops.shown[at]), here)
        name = self._ops.shown[at] if list(same) == [number] else f"{self._ops.shown[at]}#{number}"
        return Edge(name, slot, self._ops.types[at])


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
