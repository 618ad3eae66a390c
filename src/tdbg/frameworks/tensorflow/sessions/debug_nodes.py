"""Takes out of a graph of TensorFlow's runtime what debug options put into it, or puts other debug ops there."""

from __future__ import annotations

from typing import Any

PREFIXES = ("__copy_", "__dbg_")

Tensor = tuple[str, int]  # node and slot


def tensor_of(text: str) -> Tensor:
    """``name:2`` is output 2, ``name`` output 0."""
    name, _, slot = text.partition(":")
    return name, int(slot or 0)


def copied(graph: Any) -> dict[str, str]:
    """Copy node -> the tensor that it copies; all readers of the tensor read the copy."""
    return {node.name: node.input[0] for node in graph.node if node.name.startswith("__copy_")}


def take_out(graph: Any) -> None:
    """Changes the GraphDef in place."""
    copies = copied(graph)
    if not copies:
        return
    kept = [node for node in graph.node if not node.name.startswith(PREFIXES)]
    for node in kept:
        inputs = [copies.get(tensor_of(text)[0], text) for text in node.input if not text.startswith("^__")]
        del node.input[:]
        node.input.extend(inputs)
    plain = [type(node).FromString(node.SerializeToString()) for node in kept]
    del graph.node[:]
    graph.node.extend(plain)


def rename_debug_op(graph: Any, debug_op: str, name: str) -> None:
    """In the GraphDef, in place, as if the run's options had asked for this op instead."""
    behind = f"_{debug_op}"
    for node in graph.node:
        if node.op == debug_op:
            node.op = name
            node.name = node.name.removesuffix(debug_op) + name
        for at, text in enumerate(node.input):
            if text.startswith("^__dbg_") and text.endswith(behind):
                node.input[at] = text.removesuffix(debug_op) + name
        if "debug_ops_spec" in node.attr:
            specs = node.attr["debug_ops_spec"].list.s
            specs[:] = [_spec(spec.decode(), debug_op, name).encode() for spec in specs]


def _spec(text: str, debug_op: str, name: str) -> str:
    """``DEBUGOP;URL;gated`` of a copy node."""
    op, semicolon, rest = text.partition(";")
    return (name if op == debug_op else op) + semicolon + rest
