"""The names of ``tensorflow.python.debug.lib.debug_graphs`` that are about names; ``DebugDumpDir`` answers the rest."""

import re

from tdbg.formats.dumps.names import node_of as get_node_name
from tdbg.formats.dumps.names import split_element as parse_node_or_tensor_name
from tdbg.frameworks.tensorflow.reading_dumps.dump_graphs import reconstruct_non_debug_graph_def

__all__ = [
    "get_node_name",
    "get_output_slot",
    "is_copy_node",
    "is_debug_node",
    "parse_debug_node_name",
    "parse_node_or_tensor_name",
    "reconstruct_non_debug_graph_def",
]

_DEBUG_NODE = re.compile(r"__dbg_([^:]*):(\d+)_(\d+)_([^_]+)")


def get_output_slot(element_name: str) -> int:
    """0 for the name of a node."""
    return parse_node_or_tensor_name(element_name)[1] or 0


def is_copy_node(node_name: str) -> bool:
    return node_name.startswith("__copy_")


def is_debug_node(node_name: str) -> bool:
    return node_name.startswith("__dbg_")


def parse_debug_node_name(node_name: str) -> tuple[str, int, int, str]:
    """The watched node, its output, the debug op's number and its name; ValueError when it is not a debug node's."""
    found = _DEBUG_NODE.fullmatch(node_name)
    if found is None:
        raise ValueError(f"Invalid debug node name: {node_name!r}; one is __dbg_NODE:SLOT_NUMBER_OP")
    node, slot, number, debug_op = found.groups()
    return node, int(slot), int(number), debug_op
