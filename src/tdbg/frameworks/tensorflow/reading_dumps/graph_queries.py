"""Answers questions about nodes, edges and paths of partition graphs, by the names that tfdbg's users know."""

from __future__ import annotations

from typing import Any

from tensorflow.core.framework import graph_pb2

from tdbg.formats.dumps.edges import Edges, InputTrace
from tdbg.formats.dumps.names import node_of
from tdbg.frameworks.tensorflow.reading_dumps.dump_graphs import PartitionGraph


def one_or_all(found: list) -> Any:
    """Where tfdbg gives a list only if there is not exactly one."""
    return found[0] if len(found) == 1 else found


class GraphQueries:
    """What a DebugDumpDir knows of graphs. ``device_name`` is needed only where a name is on several devices."""

    _graphs: dict[str, PartitionGraph]

    def devices(self) -> list[str]:
        return list(self._graphs)

    def loaded_partition_graphs(self) -> bool:
        return bool(self._graphs)

    def partition_graphs(self) -> list[graph_pb2.GraphDef]:
        """As they ran, with the debugger's nodes."""
        self._need_graphs("No partition graphs have been loaded.")
        return [graph.graph_def for graph in self._graphs.values()]

    def reconstructed_non_debug_partition_graphs(self) -> dict[str, graph_pb2.GraphDef]:
        """By device, without the debugger's nodes."""
        return {device: graph.without_debugger for device, graph in self._graphs.items()}

    def nodes(self, device_name: str | None = None) -> list[str]:
        self._need_graphs("No partition graphs have been loaded.")
        if device_name is None:
            return [node for graph in self._graphs.values() for node in graph.edges.op_types]
        if device_name not in self._graphs:
            raise ValueError(f"Invalid device name: {device_name}")
        return list(self._graphs[device_name].edges.op_types)

    def node_exists(self, node_name: str, device_name: str | None = None) -> bool:
        self._need_graphs("Nodes have not been loaded from partition graphs yet.")
        if device_name is None:
            return any(node_name in graph for graph in self._graphs.values())
        if device_name not in self._graphs:
            raise ValueError(f"The specified device_name '{device_name}' cannot be found.")
        return node_name in self._graphs[device_name]

    def node_device(self, node_name: str) -> str | list[str]:
        """A list when several devices have a node of this name."""
        self._need_graphs("Node devices are not loaded from partition graphs yet.")
        found = [device for device, graph in self._graphs.items() if node_name in graph]
        if not found:
            raise ValueError(f"Node '{node_name}' does not exist in partition graphs.")
        return one_or_all(found)

    def node_op_type(self, node_name: str, device_name: str | None = None) -> str:
        self._need_graphs("Node op types are not loaded from partition graphs yet.")
        return self._edges_with(node_name, device_name).op_types[node_name]

    def node_attributes(self, node_name: str, device_name: str | None = None) -> Any:
        """The ``attr`` of its NodeDef."""
        self._need_graphs("No partition graphs have been loaded.")
        return self._graph_with(node_name, device_name).attributes(node_name)

    def node_inputs(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        self._need_graphs("Node inputs are not loaded from partition graphs yet.")
        edges = self._edges_with(node_name, device_name)
        return (edges.control_inputs if is_control else edges.inputs)[node_name]

    def node_recipients(self, node_name: str, is_control: bool = False, device_name: str | None = None) -> list[str]:
        self._need_graphs("Node recipients are not loaded from partition graphs yet.")
        edges = self._edges_with(node_name, device_name)
        return (edges.control_recipients if is_control else edges.recipients)[node_name]

    def transitive_inputs(
        self,
        node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str]:
        """All that the node's value came from; ``include_reversed_ref``: also through what wrote to a variable."""
        self._need_graphs("Node inputs are not loaded from partition graphs yet.")
        edges = self._edges_with(node_name, device_name)
        return InputTrace(edges, include_control, include_reversed_ref).inputs(node_name)

    def find_some_path(
        self,
        src_node_name: str,
        dst_node_name: str,
        include_control: bool = True,
        include_reversed_ref: bool = False,
        device_name: str | None = None,
    ) -> list[str] | None:
        """From one node to another on the same device, both included; None when no way leads there."""
        source, destination = node_of(src_node_name), node_of(dst_node_name)
        from_graph = self._graph_with(source, device_name)
        to_graph = self._graph_with(destination, device_name)
        if from_graph is not to_graph:
            raise ValueError(
                f"Source ({source}) and destination ({destination}) are not on the same device: "
                f"{from_graph.device} vs. {to_graph.device}"
            )
        return InputTrace(to_graph.edges, include_control, include_reversed_ref).path(source, destination)

    def _need_graphs(self, otherwise: str) -> None:
        if not self._graphs:
            raise LookupError(otherwise)

    def _edges_with(self, node_name: str, device_name: str | None) -> Edges:
        return self._graph_with(node_name, device_name).edges

    def _graph_with(self, node_name: str, device_name: str | None) -> PartitionGraph:
        found = [
            graph
            for device, graph in self._graphs.items()
            if node_name in graph and (device_name is None or device == device_name)
        ]
        if len(found) == 1:
            return found[0]
        if found:
            raise ValueError(
                f"There are multiple ({len(found)}) devices with nodes named '{node_name}' but "
                "device_name is not specified."
            )
        if device_name is not None:
            raise ValueError(f"Device '{device_name}' has no node named '{node_name}'.")
        raise ValueError(f"None of the {len(self.devices())} device(s) has a node named '{node_name}'.")
