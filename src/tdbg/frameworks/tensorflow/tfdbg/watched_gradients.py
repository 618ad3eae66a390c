"""Finds the gradient tensors that tf.gradients makes for watched tensors, by name."""

from __future__ import annotations

import re
import uuid
import weakref
from typing import Any

import tensorflow as tf
from tensorflow.python.framework import ops
from tensorflow.python.ops import gen_array_ops

_TAG = "gradient_debug_"
_GRADIENT = "TdbgGradientOfWatched"
_NAME = re.compile(rf"(?P<node>.+)_(?P<slot>\d+)/{_TAG}(?P<uuid>[0-9a-f]+)(_\d+)?$")

_debuggers: weakref.WeakValueDictionary[str, GradientsDebugger] = weakref.WeakValueDictionary()


class GradientsDebugger:
    """Finds the gradient tensors that automatic differentiation makes.

    Mark tensors with ``identify_gradient`` or the ``watch_gradients_by_…`` methods, build the optimizer inside
    ``with debugger:``, then ask ``gradient_tensor(x)``. The ``with`` can be left out while there is one debugger only.
    """

    def __init__(self, y_tensor: Any = None) -> None:
        self._uuid = uuid.uuid4().hex
        self._y_tensor = y_tensor
        self._graph = None if y_tensor is None else y_tensor.graph
        self._gradients: dict[str, Any] = {}
        self._is_active = False
        _debuggers[self._uuid] = self

    @property
    def y_tensor(self) -> Any:
        return self._y_tensor

    @property
    def graph(self) -> Any:
        return self._graph

    def __enter__(self) -> GradientsDebugger:
        self._is_active = True
        return self

    def __exit__(self, *error: Any) -> None:
        self._is_active = False

    def identify_gradient(self, input_tensor: Any) -> Any:
        """The tensor again, as a new one: gradients that flow through it are found. ValueError when this debugger
        marks it already."""
        node, _, slot = input_tensor.name.rpartition(":")
        name = f"{node}_{slot}/{_TAG}{self._uuid}"
        is_ref = input_tensor.dtype._is_ref_dtype
        identity = gen_array_ops.debug_gradient_ref_identity if is_ref else gen_array_ops.debug_gradient_identity
        # Under a name of our own: TensorFlow's debugger registers the gradient of these ops when it is imported.
        overrides = dict.fromkeys(("DebugGradientIdentity", "DebugGradientRefIdentity"), _GRADIENT)
        with input_tensor.graph.as_default(), input_tensor.graph.gradient_override_map(overrides):
            marked = identity(input_tensor, name=name)
        if marked.op.name != name:
            raise ValueError(f"The graph already contains an op named {name}")
        return marked

    def watch_gradients_by_tensors(self, graph: Any, tensors: Any) -> GradientsDebugger:
        """Marks tensors or variables of a finished forward graph; whoever uses them uses the marked ones from now."""
        tensors = tensors if isinstance(tensors, list | tuple) else [tensors]
        names = "|".join(re.escape(tensor.name) + "$" for tensor in tensors)
        return self.watch_gradients_by_tensor_names(graph, f"({names})")

    def watch_gradients_by_tensor_names(self, graph: Any, tensor_name_regex: str) -> GradientsDebugger:
        """The same for all tensors whose name matches (``re.match``)."""
        matches = re.compile(tensor_name_regex).match
        wanted = [output for op in graph.get_operations() for output in op.outputs if matches(output.name)]
        for tensor in wanted:
            consumers = list(tensor.consumers())
            marked = self.identify_gradient(tensor)
            for consumer in consumers:
                for index, value in enumerate(consumer.inputs):
                    if value is tensor or value.name == tensor.name:
                        consumer._update_input(index, marked)
        return self

    def register_gradient_tensor(self, x_tensor_name: str, gradient_tensor: Any) -> None:
        """Called while TensorFlow differentiates."""
        if not self._is_active and len(_debuggers) > 1:
            return
        if self._graph is None:
            self._graph = gradient_tensor.graph
        if self._graph is not gradient_tensor.graph:
            raise ValueError(f"The graph of {gradient_tensor} is not the graph that this debugger watches")
        self._gradients[x_tensor_name] = gradient_tensor

    def gradient_tensor(self, x_tensor: Any) -> Any:
        """The gradient with respect to a tensor, a variable or a name. LookupError when none was made."""
        name = _name_of(x_tensor)
        if name not in self._gradients:
            raise LookupError(
                f"This GradientsDebugger has not received any gradient tensor for x-tensor {name}. Was the optimizer "
                "or tf.gradients built after the tensor was marked, inside `with debugger:`?"
            )
        return self._gradients[name]

    def gradient_tensors(self) -> dict[str, Any]:
        """All that were found, by the name of the tensor that they are gradients of."""
        return self._gradients


def clear_gradient_debuggers() -> None:
    """Forgets all debuggers: gradients that are made from now on are not registered with them."""
    _debuggers.clear()


def gradient_values_from_dump(grad_debugger: GradientsDebugger, x_tensor: Any, dump: Any) -> list[Any]:
    """The values of a gradient in a DebugDumpDir: none if it was not computed in that run, several in a loop."""
    if dump.python_graph and grad_debugger.graph and dump.python_graph is not grad_debugger.graph:
        raise ValueError("This GradientsDebugger watches another graph than that of the DebugDumpDir")
    node, _, slot = grad_debugger.gradient_tensor(x_tensor).name.rpartition(":")
    try:
        return dump.get_tensors(node, int(slot), "DebugIdentity")
    except ValueError:  # not dumped
        return []


def _name_of(tensor: Any) -> str:
    if isinstance(tensor, str):
        return tensor
    if not isinstance(tensor, tf.Tensor | tf.Variable):
        raise TypeError(f"x_tensor must be a str or tf.Tensor or tf.Variable, but instead has type {type(tensor)}")
    return tensor.name


@ops.RegisterGradient(_GRADIENT)
def _register(op: Any, gradient: Any) -> Any:
    found = _NAME.match(op.name)
    debugger = _debuggers.get(found["uuid"]) if found else None
    if found and debugger is not None:
        debugger.register_gradient_tensor(f"{found['node']}:{found['slot']}", gradient)
    return gradient
