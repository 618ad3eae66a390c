"""Finds the nodes of a run's graph by the user's names, as the program built it or as the runtime ran it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from tensorflow.core.framework import node_def_pb2

from tdbg.formats.dumps.names import split_element
from tdbg.frameworks.tensorflow.capture.attributes import plain
from tdbg.frameworks.tensorflow.dialect import DIALECT
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import DebugDumpDir
from tdbg.frameworks.tensorflow.reading_dumps.dump_graphs import PartitionGraph
from tdbg.frameworks.tensorflow.sessions.matching import Given, Part, Written, fed_name
from tdbg.frameworks.tensorflow.sessions.source_lines import UserOps, frames_of, line_text
from tdbg.scene import Edge, Node


class ClientNodes:
    """The ops of a tf.Graph, before anything ran."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self.user_ops = UserOps(graph)

    def names(self) -> list[str]:
        return [op.name for op in self._graph.get_operations()]

    def node(self, name: str) -> Node | None:
        op = self.user_ops.named(name)
        if op is None:
            return None
        outgoing = [Edge(to.name, slot, to.type) for slot, out in enumerate(op.outputs) for to in out.consumers()]
        return Node(
            op.name,
            op.type,
            op.device,
            [Edge(tensor.op.name, tensor.value_index, tensor.op.type) for tensor in op.inputs],
            [Edge(before.name, -1, before.type) for before in op.control_inputs],
            outgoing,
            [Edge(after.name, -1, after.type) for after in op._control_outputs],
            _texts(op.node_def.attr),
            _stack(op),
        )

    def maker(self, name: str) -> Any:
        """The tf.Operation that the program made for a node."""
        return self.user_ops.named(name)


class RuntimeNodes:
    """What the runtime made of the program, on all its devices. A fed tensor bears the name of what was fed."""

    def __init__(self, dump: DebugDumpDir, graph: Any) -> None:
        self.user_ops = UserOps(graph)
        self._types: dict[str, str] = {}
        self._makers: dict[str, Any] = {}
        self._words: dict[str, tuple[set[str], set[str]]] = {}
        self._partitions: list[PartitionGraph] = list(dump._graphs.values())
        self._parts: dict[str, list[Part]] = {}

    @cached_property
    def _places(self) -> dict[str, tuple[PartitionGraph, str]]:
        """By the user's name, and by the runtime's: the partition and the runtime's name."""
        found: dict[str, tuple[PartitionGraph, str]] = {}
        for partition in self._partitions:
            for name in partition.edges.op_types:
                found.setdefault(name, (partition, name))
        for partition in self._partitions:
            for name in partition.edges.op_types:
                found.setdefault(shown_name(name), (partition, name))
        return found

    @cached_property
    def _all_names(self) -> frozenset[str]:
        return frozenset(name for own in self._runtime_names() for name in (own, shown_name(own)))

    @cached_property
    def _fused(self) -> dict[str, list[Written]]:
        """The nodes that compute several of the program's ops at once, by the runtime's name: those ops, the last one
        first, and what each reads."""
        found = {}
        for name in self._runtime_names():
            given = [Given(edge.node, edge.slot) for edge in self._given(name)] if self._parts_of(name) else []
            written = self.user_ops.as_written(self._proto(name), self._parts_of(name), given) if given else []
            if written:
                found[name] = written
        return found

    @cached_property
    def _wholes(self) -> dict[str, tuple[str, Written]]:
        """The node that a part is computed by, and the part."""
        return {one.part.name: (name, one) for name, written in self._fused.items() for one in written[1:]}

    def names(self) -> list[str]:
        return list(dict.fromkeys([*map(shown_name, self._runtime_names()), *self._wholes]))

    def _runtime_names(self) -> Iterator[str]:
        for partition in self._partitions:
            yield from partition.edges.op_types

    def node(self, name: str) -> Node | None:
        place = self._places.get(name)
        if place is None:
            return self._part(name)
        partition, runtime_name = place
        edges, proto = partition.edges, self._proto(runtime_name)
        op = self.user_ops.of(proto)
        return Node(
            shown_name(runtime_name),
            self.op_type(runtime_name),
            partition.device,
            self._inputs(runtime_name),
            [self._edge(before, -1) for before in edges.control_inputs[runtime_name]],
            list(self._recipients(partition, runtime_name)),
            [self._edge(after, -1) for after in edges.control_recipients[runtime_name]],
            _texts(proto.attr) | ({"_computed_by": proto.op} if runtime_name in self._fused else {}),
            _stack(op) if op is not None else (),
            written_as=", ".join(f"{part.name} ({part.op.type})" for part in self._parts_of(runtime_name)),
        )

    def _part(self, name: str) -> Node | None:
        """An op of the program that is computed inside another."""
        if name not in self._wholes:
            return None
        whole, (part, reads) = self._wholes[name]
        readers = [other.part for other in self._fused[whole] if (name, 0) in other.reads]
        return Node(
            name,
            part.op.type,
            self._places[whole][0].device,
            self._read(whole, reads),
            [],
            [Edge(reader.name, 0, reader.op.type) for reader in readers],
            [],
            _texts(self.user_ops.attributes(part.op)),
            _stack(part.op),
            part_of=self.part_of(name),
            framework=DIALECT.name,
        )

    def part_of(self, name: str) -> str:
        """The node that computes an op as a part of itself, with its type; "": none does."""
        whole = self._wholes[name][0] if name in self._wholes else ""
        return f"{whole} ({self.op_type(whole)})" if whole else ""

    def parts_like(self, name: re.Pattern[str], op_type: re.Pattern[str]) -> dict[str, str]:
        """The parts that match, and what each is computed inside."""
        found = {part: one.part.op.type for part, (_, one) in self._wholes.items() if name.match(part)}
        return {part: self.part_of(part) for part, kind in found.items() if op_type.match(kind)}

    def _inputs(self, runtime_name: str) -> list[Edge]:
        written = self._fused.get(runtime_name)
        return self._read(runtime_name, written[0].reads) if written else self._given(runtime_name)

    def _given(self, runtime_name: str) -> list[Edge]:
        edges = self._places[runtime_name][0].edges
        return [self._edge(*split_element(element)) for element in edges.inputs[runtime_name]]

    def _read(self, whole: str, reads: list[tuple[str, int] | int]) -> list[Edge]:
        given = self._given(whole)
        return [given[read] if isinstance(read, int) else self._edge(*read) for read in reads]

    def maker(self, name: str) -> Any:
        """The tf.Operation that a node came from, or None."""
        if name not in self._makers:
            place = self._places.get(name)
            inner = self._wholes[name][1].part.op if not place and name in self._wholes else None
            self._makers[name] = self.user_ops.of(self._proto(place[1])) if place else inner
        return self._makers[name]

    def op_type(self, runtime_name: str) -> str:
        """The type as the program wrote it where that is another word for the same."""
        if runtime_name not in self._types:
            place, inner = self._places.get(runtime_name), None
            if place is None and runtime_name in self._wholes:
                inner = self._wholes[runtime_name][1].part.op.type
            self._types[runtime_name] = self.user_ops.type_of(self._proto(place[1])) if place else inner or "?"
        return self._types[runtime_name]

    def words(self, runtime_name: str) -> tuple[set[str], set[str]]:
        """All names and all types by which a node can be found."""
        if runtime_name not in self._words:
            place = self._places.get(runtime_name)
            parts = self._parts_of(runtime_name)
            names = {runtime_name, shown_name(runtime_name), *(part.name for part in parts)}
            types = {self.op_type(runtime_name), *(part.op.type for part in parts)}
            self._words[runtime_name] = names, types | {self._proto(place[1]).op} if place else types
        return self._words[runtime_name]

    def _parts_of(self, runtime_name: str) -> list[Part]:
        if runtime_name not in self._parts:
            place = self._places.get(runtime_name)
            proto = self._proto(place[1]) if place else None
            found = self.user_ops.parts(proto, self._all_names) if proto is not None else []
            is_itself = len(found) == 1 and found[0].name == runtime_name
            self._parts[runtime_name] = [] if is_itself else found
        return self._parts[runtime_name]

    def _proto(self, runtime_name: str) -> Any:
        partition, name = self._places[runtime_name]
        return partition.node(name) or node_def_pb2.NodeDef(name=name)

    def _edge(self, runtime_name: str, slot: int | None) -> Edge:
        fed = fed_name(runtime_name)
        return Edge(shown_name(runtime_name), fed[1] if fed and slot != -1 else slot or 0, self.op_type(runtime_name))

    def _recipients(self, partition: PartitionGraph, name: str) -> Iterator[Edge]:
        for recipient in dict.fromkeys(partition.edges.recipients[name]):
            elements = [split_element(element) for element in partition.edges.inputs[recipient]]
            parts = self._fused.get(recipient, ())
            for at, (source, slot) in enumerate(elements):
                if source == name and (source, slot) not in elements[:at]:
                    reader = next((one.part.name for one in parts if at in one.reads), recipient)
                    yield Edge(shown_name(reader), slot or 0, self.op_type(reader))


def shown_name(runtime_name: str) -> str:
    """What was fed, for the node that brings it in."""
    fed = fed_name(runtime_name)
    return fed[0] if fed else runtime_name


def _stack(op: Any) -> list[tuple[Any, str]]:
    return [(frame, line_text(frame)) for frame in frames_of(op)]


def _texts(attributes: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(plain(value)) for name, value in attributes.items()}
