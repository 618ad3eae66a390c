"""Gives the nodes and edges of partition graphs as they were before the debugger changed them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

from google.protobuf.message import DecodeError
from tensorflow.core.framework import graph_pb2
from tensorflow.python.framework import op_def_registry

from tdbg.formats.dumps.edges import Edges, as_dumped, is_debuggers
from tdbg.frameworks.tensorflow.reading_dumps.dump_tensors import read_event


@cache
def ref_outputs(op_type: str) -> frozenset[int]:
    """Which outputs of such an op are references to a variable."""
    op_def = op_def_registry.get(op_type)
    return frozenset(slot for slot, output in enumerate(op_def.output_arg) if output.is_ref) if op_def else frozenset()


def load_partition_graph(paths: Sequence[str]) -> graph_pb2.GraphDef:
    """The newest graph (the last file), with the nodes that only older ones have: of other runs into the same folder.

    ValueError when a file holds no graph.
    """
    graphs = [_load(path) for path in paths]
    merged = graphs.pop()
    known = {node.name for node in merged.node}
    for graph in reversed(graphs):
        new = [node for node in graph.node if node.name not in known]
        merged.node.extend(new)
        known.update(node.name for node in new)
    return merged


def _load(path: str) -> graph_pb2.GraphDef:
    try:
        graph = graph_pb2.GraphDef.FromString(read_event(path).graph_def)
    except DecodeError as error:
        raise ValueError(f"The partition graph in this file is damaged: {path}") from error
    for node in graph.node:
        if "//" in node.name:
            node.name = as_dumped(node.name)
        for n, element in enumerate(node.input):
            if "//" in element:
                node.input[n] = as_dumped(element)
    return graph


class PartitionGraph:
    """The graph that one device ran. Edges are worked out when they are asked for."""

    def __init__(self, device: str, graph_def: graph_pb2.GraphDef) -> None:
        self.device = device
        self.graph_def = graph_def
        self.names = frozenset(as_dumped(node.name) for node in graph_def.node)

    def __contains__(self, node_name: str) -> bool:
        return node_name in self.names and not is_debuggers(node_name)

    @cached_property
    def edges(self) -> Edges:
        return Edges(self.graph_def.node, ref_outputs)

    @cached_property
    def _nodes(self) -> dict[str, Any]:
        return {as_dumped(node.name): node for node in reversed(self.graph_def.node)}

    def node(self, node_name: str) -> Any:
        """Its NodeDef, or None."""
        return self._nodes.get(node_name)

    def attributes(self, node_name: str) -> Any:
        """KeyError when there is no such node."""
        return self._nodes[node_name].attr

    @cached_property
    def without_debugger(self) -> graph_pb2.GraphDef:
        plain = graph_pb2.GraphDef()
        for node in self.graph_def.node:
            name = as_dumped(node.name)
            if is_debuggers(name):
                continue
            copy = plain.node.add()
            copy.CopyFrom(node)
            del copy.input[:]
            copy.input.extend(self.edges.inputs[name])
            copy.input.extend(f"^{control}" for control in self.edges.control_inputs[name])
        return plain


def reconstruct_non_debug_graph_def(debug_graph_def: graph_pb2.GraphDef) -> graph_pb2.GraphDef:
    """The graph without the nodes that the debugger put in, their inputs connected as they were."""
    return PartitionGraph("", debug_graph_def).without_debugger
