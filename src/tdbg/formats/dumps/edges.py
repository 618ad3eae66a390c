"""Tells who feeds whom among the nodes of a partition graph, as if the debugger's own nodes were not there."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Protocol

from tdbg.formats.dumps.names import node_of, split_element

COPY_PREFIX = "__copy_"
DEBUG_PREFIX = "__dbg_"


class Node(Protocol):
    """A NodeDef, or what is like one."""

    @property
    def name(self) -> str: ...
    @property
    def op(self) -> str: ...
    @property
    def input(self) -> Iterable[str]: ...


def is_debuggers(node_name: str) -> bool:
    return node_name.startswith((COPY_PREFIX, DEBUG_PREFIX))


def as_dumped(name: str) -> str:
    """A node's name as the path of its dumps tells it: a file system takes several slashes for one."""
    return re.sub("/+", "/", name) if "//" in name else name


class Edges:
    """Inputs and recipients of each node of one device; ``duplicates`` are names that more than one node has."""

    def __init__(
        self, nodes: Iterable[Node], ref_outputs: Callable[[str], Collection[int]] = lambda op_type: ()
    ) -> None:
        self.op_types: dict[str, str] = {}
        self.inputs: dict[str, list[str]] = {}
        self.control_inputs: dict[str, list[str]] = {}
        self.recipients: dict[str, list[str]] = {}
        self.control_recipients: dict[str, list[str]] = {}
        self.reversed_ref_inputs: dict[str, list[str]] = {}
        self.duplicates: list[str] = []
        self._copied: dict[str, str] = {}
        self._only_copies: set[str] = set()  # these pass copies on, which the runtime made for the debugger
        for node in nodes:
            self._add(node)
        self._pass_over_copies()
        self._turn_around(ref_outputs)

    def _add(self, node: Node) -> None:
        name = as_dumped(node.name)
        if name.startswith(DEBUG_PREFIX):
            return
        inputs = [as_dumped(element) for element in node.input]
        if name.startswith(COPY_PREFIX):
            self._copied[name] = inputs[0] if inputs else name
            return
        if name in self.op_types:
            self.duplicates.append(name)
            return
        self.op_types[name] = node.op
        self.inputs[name] = [element for element in inputs if not element.startswith("^")]
        controls = [element[1:] for element in inputs if element.startswith("^")]
        self.control_inputs[name] = [control for control in controls if not control.startswith(DEBUG_PREFIX)]
        if node.op in ("_Send", "_Retval") and any(element.startswith(COPY_PREFIX) for element in inputs):
            self._only_copies.add(name)

    def _pass_over_copies(self) -> None:
        for inputs in self.inputs.values():
            inputs[:] = [self._copied.get(element, element) for element in inputs]

    def _turn_around(self, ref_outputs: Callable[[str], Collection[int]]) -> None:
        for name in self.op_types:
            self.recipients[name] = []
            self.control_recipients[name] = []
        for name, inputs in self.inputs.items():
            for element in inputs:
                source, slot = split_element(element)
                self.recipients.setdefault(source, []).append(name)
                if (slot or 0) in ref_outputs(self.op_types.get(source, "")):
                    self.reversed_ref_inputs.setdefault(source, []).append(name)
        for name, controls in self.control_inputs.items():
            for control in controls:
                if control not in self._only_copies:
                    self.control_recipients.setdefault(control, []).append(name)


class InputTrace:
    """All that a node's value came from, nearest first, depth first; loops end at their Merge nodes."""

    def __init__(self, edges: Edges, include_control: bool, include_reversed_ref: bool) -> None:
        self._tables: list[dict[str, list[str]]] = [edges.inputs]
        if include_control:
            self._tables.append(edges.control_inputs)
        if include_reversed_ref:
            self._tables.append(edges.reversed_ref_inputs)
        self._op_types = edges.op_types

    def inputs(self, node: str) -> list[str]:
        """Names as the graph's inputs write them: ``node`` or ``node:slot``."""
        return [element for element, _ in self._walk(node)]

    def path(self, source: str, destination: str) -> list[str] | None:
        """From source to destination, both included; None when no way leads there."""
        if source == destination:
            return [destination]
        came_from: dict[str, str] = {}
        for element, taker in self._walk(destination):
            came_from.setdefault(element, taker)
            if node_of(element) == source:
                path = [element]
                while path[-1] != destination:
                    path.append(came_from[path[-1]])
                return path
        return None

    def _walk(self, start: str) -> Iterator[tuple[str, str]]:
        """(input, the element that takes it)."""
        visited = {start}
        if self._op_types.get(start) == "Merge":
            return
        pending: list[tuple[str, Iterator[str]]] = [(start, self._inputs_of(start))]
        while pending:
            taker, rest = pending[-1]
            element = next(rest, None)
            if element is None:
                pending.pop()
                continue
            node = node_of(element)
            if node in visited:
                continue
            visited.add(node)
            yield element, taker
            if self._op_types.get(node) != "Merge":
                pending.append((element, self._inputs_of(node)))

    def _inputs_of(self, node: str) -> Iterator[str]:
        return (element for table in self._tables for element in table.get(node, ()))


def causality_violations(edges: Edges, dumps: Sequence[tuple[str, int, int]]) -> Iterator[tuple[str, int, list[str]]]:
    """Finds nodes that were dumped before inputs of theirs, with its time and those inputs; dumps: (node, slot, µs).

    An input that was never dumped cannot be late. Of a Merge one input is enough, and what a loop hands to its next
    round is no input of this one. Clocks tell no more than microseconds, so an equal time is not late.
    """
    first: dict[tuple[str, int], int] = {}
    for node, slot, time in dumps:
        first.setdefault((node, slot), time)
    seen: set[str] = set()
    for node, _, time in dumps:
        if node in seen or edges.op_types.get(node) == "Merge":
            continue
        seen.add(node)
        late = []
        for element in dict.fromkeys(edges.inputs.get(node, ())):
            source, from_slot = split_element(element)
            if edges.op_types.get(source) in ("Enter", "NextIteration", "RefEnter", "RefNextIteration"):
                continue
            if first.get((source, from_slot or 0), time) > time:
                late.append(element)
        if late:
            yield node, time, late
