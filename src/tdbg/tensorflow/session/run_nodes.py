"""The graph of a run in, as the program built it or as the runtime ran it; its nodes, by the user's names, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

from tensorflow.core.framework import node_def_pb2

from tdbg.dumps.names import split_element
from tdbg.scene import Edge, Node
from tdbg.tensorflow.attributes import plain
from tdbg.tensorflow.session.dump_dir import DebugDumpDir
from tdbg.tensorflow.session.dump_graphs import PartitionGraph
from tdbg.tensorflow.session.matching import fed_name
from tdbg.tensorflow.session.source_lines import UserOps, frames_of, line_text


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
        return frozenset(name for partition in self._partitions for name in partition.edges.op_types)

    def names(self) -> list[str]:
        return list(dict.fromkeys(shown_name(name) for name in self._runtime_names()))

    def _runtime_names(self) -> Iterator[str]:
        for partition in self._partitions:
            yield from partition.edges.op_types

    def node(self, name: str) -> Node | None:
        place = self._places.get(name)
        if place is None:
            return None
        partition, runtime_name = place
        edges, proto = partition.edges, self._proto(runtime_name)
        op = self.user_ops.of(proto)
        return Node(
            shown_name(runtime_name),
            self.op_type(runtime_name),
            partition.device,
            [self._edge(*split_element(element)) for element in edges.inputs[runtime_name]],
            [self._edge(before, -1) for before in edges.control_inputs[runtime_name]],
            list(self._recipients(partition, runtime_name)),
            [self._edge(after, -1) for after in edges.control_recipients[runtime_name]],
            _texts(proto.attr),
            _stack(op) if op is not None else (),
            written_as=", ".join(self.stands_for(runtime_name)),
        )

    def maker(self, name: str) -> Any:
        """The tf.Operation that a node came from, or None."""
        if name not in self._makers:
            place = self._places.get(name)
            self._makers[name] = self.user_ops.of(self._proto(place[1])) if place else None
        return self._makers[name]

    def op_type(self, runtime_name: str) -> str:
        """The type as the program wrote it where that is another word for the same."""
        if runtime_name not in self._types:
            place = self._places.get(runtime_name)
            self._types[runtime_name] = self.user_ops.type_of(self._proto(place[1])) if place else "?"
        return self._types[runtime_name]

    def stands_for(self, runtime_name: str) -> list[str]:
        """The ops of the program that became this node, where it is not what was written."""
        return [op.name for op in self._absorbed(runtime_name)]

    def words(self, runtime_name: str) -> tuple[set[str], set[str]]:
        """All names and all types by which a node can be found."""
        if runtime_name not in self._words:
            place = self._places.get(runtime_name)
            absorbed = self._absorbed(runtime_name)
            names = {runtime_name, shown_name(runtime_name), *(op.name for op in absorbed)}
            types = {self.op_type(runtime_name), *(op.type for op in absorbed)}
            self._words[runtime_name] = names, types | {self._proto(place[1]).op} if place else types
        return self._words[runtime_name]

    def _absorbed(self, runtime_name: str) -> list[Any]:
        place = self._places.get(runtime_name)
        proto = self._proto(place[1]) if place else None
        if proto is None or self.user_ops.type_of(proto) != proto.op:
            return []
        found = self.user_ops.absorbed(proto, self._all_names)
        return [op for op in found if op.name != runtime_name or len(found) > 1]

    def _proto(self, runtime_name: str) -> Any:
        partition, name = self._places[runtime_name]
        return partition.node(name) or node_def_pb2.NodeDef(name=name)

    def _edge(self, runtime_name: str, slot: int | None) -> Edge:
        fed = fed_name(runtime_name)
        return Edge(shown_name(runtime_name), fed[1] if fed and slot != -1 else slot or 0, self.op_type(runtime_name))

    def _recipients(self, partition: PartitionGraph, name: str) -> Iterator[Edge]:
        for recipient in dict.fromkeys(partition.edges.recipients[name]):
            for element in dict.fromkeys(partition.edges.inputs[recipient]):
                source, slot = split_element(element)
                if source == name:
                    yield Edge(shown_name(recipient), slot or 0, self.op_type(recipient))


def shown_name(runtime_name: str) -> str:
    """What was fed, for the node that brings it in."""
    fed = fed_name(runtime_name)
    return fed[0] if fed else runtime_name


def _stack(op: Any) -> list[tuple[Any, str]]:
    return [(frame, line_text(frame)) for frame in frames_of(op)]


def _texts(attributes: Mapping[str, Any]) -> dict[str, str]:
    return {name: str(plain(value)) for name, value in attributes.items()}
