"""A node's name in; the op with what is around it out: inputs, recipients, attributes and the lines that made it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from functools import cached_property

from tdbg.errors import TdbgError
from tdbg.model import Phase
from tdbg.query.program import Program
from tdbg.query.scene_ops import Ops, parsed
from tdbg.query.scene_texts import Texts
from tdbg.scene import Edge, Node
from tdbg.store.reader import Trace


class Nodes:
    """Of one process."""

    def __init__(self, trace: Trace, process: int, program: Program, ops: Ops, texts: Texts) -> None:
        self._trace, self._process, self._program, self._ops = trace, process, program, ops
        self._texts = texts

    def node(self, name: str, graphs: Collection[int] = ()) -> Node:
        """Of several ops with the name, the first; one of ``graphs`` rather than another."""
        numbers = self._ops.find(name).ops
        here = [number for number in numbers if self._ops.graphs[self._ops.at[number]] in graphs]
        return self.of((here or list(numbers))[0])

    def of(self, number: int) -> Node:
        ops, program = self._ops, self._program
        op = program.ops.get(number)
        if op is None:
            raise TdbgError(f"there is no op #{number} in this trace")
        at = ops.at[number]
        attributes = {key: _text(value) for key, value in parsed(ops.attributes[at]).items()}
        before, after = self._controls
        return Node(
            name=ops.names[at],
            op_type=ops.types[at],
            device=ops.devices[at],
            inputs=[self._edge(source, slot) for source, slot in op.inputs if source != number],
            control_inputs=self._edges(before.get(number, ())),
            recipients=[self._edge(reader, slot) for reader, slot in self._recipients.get(number, ())],
            control_recipients=self._edges(after.get(number, ())),
            attributes=attributes,
            stack=[(frame, self._texts.line(frame)) for frame in program.shown_stack(op.stack)],
            written_as=", ".join(f"{name} ({kind})" for name, kind in ops.stands_for.get(at, ())),
            graph=ops.functions.get(int(ops.graphs[at]), ""),
            phase=Phase(int(ops.phases[at])).label,
        )

    def _edge(self, number: int, slot: int) -> Edge:
        at = self._ops.at.get(number, -1)
        return Edge(self._ops.shown[at], slot, self._ops.types[at]) if at >= 0 else Edge("?", slot, "?")

    def _edges(self, numbers: Iterable[int]) -> list[Edge]:
        return [self._edge(number, -1) for number in numbers]

    @cached_property
    def _recipients(self) -> dict[int, list[tuple[int, int]]]:
        found: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for op in self._program.ops.values():
            for source, slot in op.inputs:
                if source != op.number:
                    found[source].append((op.number, slot))
        return found

    @cached_property
    def _controls(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        rows = self._trace.table("controls", process=self._process)
        before: dict[int, list[int]] = defaultdict(list)
        after: dict[int, list[int]] = defaultdict(list)
        for op, source in zip(rows["op"].to_pylist(), rows["input_op"].to_pylist(), strict=True):
            before[op].append(source)
            after[source].append(op)
        return before, after


def _text(value: object) -> str:
    return value if isinstance(value, str) else str(value).lower() if isinstance(value, bool) else str(value)
