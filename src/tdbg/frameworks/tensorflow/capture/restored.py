"""Puts an observer behind each tensor of a graph that TensorFlow read from a SavedModel.

Such a graph has no Python code: its ops arrive all at once and tell no callback. The user's line behind them is the one
that loaded the model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tensorflow.python.framework import ops

from tdbg.frameworks.tensorflow.capture.observers import is_observer

Created = Callable[[Any, str, str, Sequence[Any], Any, Sequence[Any], int, int], list[Any] | None]


def observe(graph: Any, stack: int, created: Created) -> None:
    """Before the graph becomes a function: tells ``created`` of each op, and gives its readers what comes back."""
    operations = list(graph.get_operations())
    if any(is_observer(op) for op in operations):  # a part of a graph that was observed as it was loaded
        return
    for op in operations:
        readers = [[(reader, _places(reader, tensor)) for reader in tensor.consumers()] for tensor in op.outputs]
        attributes = {key: op.node_def.attr[key] for key in op.node_def.attr}
        made = created(graph, op.type, op.name, list(op.inputs), attributes, op.outputs, stack, -1)
        for tensor, observed, of_tensor in zip(op.outputs, made or (), readers, strict=False):
            if observed is not tensor:
                _replace(graph, tensor, observed, of_tensor)


def _places(reader: Any, tensor: Any) -> list[int]:
    return [place for place, given in enumerate(reader.inputs) if given is tensor]


def _replace(graph: Any, tensor: Any, observed: Any, readers: list[tuple[Any, list[int]]]) -> None:
    for reader, places in readers:
        for place in places:
            reader._update_input(place, observed)
    if any(output is tensor for output in graph.outputs):
        graph.outputs = [observed if output is tensor else output for output in graph.outputs]
        names = getattr(graph, "_output_names", None)
        if names is not None and ops.tensor_id(tensor) in names:
            names[ops.tensor_id(observed)] = names[ops.tensor_id(tensor)]
