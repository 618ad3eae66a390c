"""Knows who feeds whom in the program of one process: between the ops of its graphs, and across calls.

These are the edges that the program has, whatever it computed. ``lineage`` finds which value of which execution went
along them. What eager ops are given is in no graph: their executions tell it (``eager_edges``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from tdbg.model import Phase
from tdbg.query.trace.op import Op, Tensor
from tdbg.vocabulary import ASSIGNMENTS, GRAPH_CALLS, Kind, Role

if TYPE_CHECKING:
    from tdbg.query.trace.program import Program


def moved_input(op: Op, slot: int, through_casts: bool = False) -> int | None:
    """Tells which of its inputs an op hands on as this output, where it does no more than that; None where it does."""
    if Role.MOVES not in op.roles and not (through_casts and op.kind == Kind.CAST):
        return None
    return slot if op.kind == Kind.IDENTITY else 0  # it may hand on several


class Graph:
    """Made once for a program: ``Program.graph``."""

    def __init__(self, program: Program) -> None:
        self._program = program

    # ---- next to each other

    @cached_property
    def recipients(self) -> dict[int, list[tuple[Op, int]]]:
        """By op: each op that takes an output of it, with the number of that output."""
        found: dict[int, list[tuple[Op, int]]] = defaultdict(list)
        for op in self._program.ops.values():
            for number, slot in op.inputs:
                if number != op.number:  # a reference to a variable is its own handle
                    found[number].append((op, slot))
        return dict(found)

    def readers_beyond(self, number: int, passes: Callable[[Op], bool]) -> Iterator[Op]:
        """Finds all that read an op, and on behind those which let pass; each once."""
        seen, waiting = {number}, [number]
        while waiting:
            for reader, _ in self.recipients.get(waiting.pop(), ()):
                if reader.number not in seen:
                    seen.add(reader.number)
                    if passes(reader):
                        waiting.append(reader.number)
                    yield reader

    def leads_to(self, op: Op, end: Op) -> bool:
        """Tells whether an op, or for an op of a gradient the one that it differentiates, is upstream of another."""
        start = op.forward if op.phase == Phase.BACKWARD and op.forward >= 0 else op.number
        return any(reader.number == end.number for reader in self.readers_beyond(start, lambda _: True))

    @cached_property
    def runs_before(self) -> dict[int, list[int]]:
        """By op: those that must have run before it, though it takes nothing from them."""
        found: dict[int, list[int]] = defaultdict(list)
        for op, before in self._program.controls:
            found[op].append(before)
        return dict(found)

    @cached_property
    def runs_after(self) -> dict[int, list[int]]:
        """The same edges from the other end."""
        found: dict[int, list[int]] = defaultdict(list)
        for op, before in self._program.controls:
            found[before].append(op)
        return dict(found)

    # ---- across calls

    @cached_property
    def callees(self) -> dict[int, list[int]]:
        """The graphs that each call of a graph runs, by the names in its attributes."""
        names = self._program.functions_by_name
        place = {name: at for at, name in enumerate(names)}
        found = {}
        for op in self._program.ops.values():
            if op.graph >= 0 and op.kind in GRAPH_CALLS:
                words = self._program.attributes(op.number).split('"')
                called = sorted({word for word in words if word in place}, key=place.__getitem__)
                found[op.number] = [names[name].graph for name in called]
        return found

    @cached_property
    def callers(self) -> dict[int, list[Op]]:
        """The ops that run each graph, from within others."""
        found: dict[int, list[Op]] = defaultdict(list)
        for number, graphs in self.callees.items():
            for graph in graphs:
                found[graph].append(self._program.ops[number])
        return dict(found)

    @cached_property
    def argument_number(self) -> dict[int, int]:
        """By op: which argument of its function it is."""
        functions = self._program.functions_by_name.values()
        return {number: at for function in functions for at, number in enumerate(function.arguments)}

    def passed(self, argument: int) -> list[tuple[Op, Tensor]]:
        """Finds each call, within a graph, of the function whose argument an op is, with what is passed for it
        there."""
        at = self.argument_number.get(argument)
        if at is None:
            return []
        calls = self.callers.get(self._program.ops[argument].graph, ())
        places = [(call, at + 1 if call.kind in (Kind.IF, Kind.CASE) else at) for call in calls]
        return [(call, call.inputs[place]) for call, place in places if place < len(call.inputs)]

    def result(self, graph: int, at: int) -> Tensor | None:
        """Finds what a graph gives as its result of this number."""
        function = self._program.functions.get(graph)
        return function.results[at] if function is not None and at < len(function.results) else None

    def results(self, call: Op, slot: int) -> list[Tensor]:
        """Finds the tensors inside the graphs that a call runs which become an output of it; of conditionals one for
        each branch; none where a trace does not tell."""
        found = [self.result(graph, slot) for graph in self.callees.get(call.number, ())]
        return [result for result in found if result is not None]

    # ---- variables

    def writers(self, graph: int, variable: Tensor) -> list[Op]:
        """Finds the ops of a graph that write a value to a variable, in the order in which they were made."""
        return self._writers.get((graph, variable), [])

    @cached_property
    def _writers(self) -> dict[tuple[int, Tensor], list[Op]]:
        found: dict[tuple[int, Tensor], list[Op]] = defaultdict(list)
        for op in self._program.ops.values():
            if op.graph >= 0 and op.kind in ASSIGNMENTS and len(op.inputs) > 1:
                found[op.graph, op.inputs[0]].append(op)
        return found

    def value_before(self, read: Op) -> Tensor | None:
        """Finds what was assigned to the variable, or read of it, before in the same graph, so that this read needs no
        row of its own."""
        for op in reversed(self._users.get((read.graph, read.inputs[0]), ()) if read.inputs else ()):
            if op.number < read.number:
                if op.kind == Kind.ASSIGN and len(op.inputs) > 1:
                    return op.inputs[1]
                if op.kind == Kind.READ and op.observed:
                    return op.number, 0
        return None

    @cached_property
    def _users(self) -> dict[tuple[int, Tensor], list[Op]]:
        """The ops that assign to each variable in each graph, or read it, by number."""
        found: dict[tuple[int, Tensor], list[Op]] = defaultdict(list)
        for _, op in sorted(self._program.ops.items()):
            if op.kind in (Kind.ASSIGN, Kind.READ) and op.inputs:
                found[op.graph, op.inputs[0]].append(op)
        return found
