"""A graph of TensorFlow's runtime in; the same without the nodes that debug options put into it out."""

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
