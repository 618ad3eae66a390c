"""A graph tensor in; the same tensor, passed through an op that records it at run time, out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.framework import auto_control_deps, op_def_registry, ops
from tensorflow.python.platform import sysconfig

from tdbg.errors import TdbgError

OBSERVE, WATCH = "TdbgObserve", "TdbgWatch"


def register(lib: Any) -> None:
    """Makes the native ops known to TensorFlow; once per process, and kept after disable()."""
    library = sysconfig.get_lib() + "/libtensorflow_framework.so.2"
    problem = lib.register_tensorflow(library)
    if problem:
        raise TdbgError(f"the native observer does not fit this TensorFlow: {problem}")
    try:
        ops.RegisterGradient(OBSERVE)(_gradient)
    except KeyError:  # registered before
        return
    # A watch has no output: keep it alive in functions, in no particular order.
    auto_control_deps.MUST_RUN_ORDER_INSENSITIVE_STATEFUL_OPS |= frozenset([WATCH])


def _gradient(op: Any, gradient: Any) -> list[Any]:
    return [gradient] + [None] * (len(op.inputs) - 1)


def _integer(value: int) -> Any:
    return attr_value_pb2.AttrValue(i=value)


class NativeObservers:
    """Inserts the native ops; needs the extension."""

    name = "native"

    def __init__(self, lib: Any) -> None:
        register(lib)
        self._definitions = {name: op_def_registry.get(name) for name in (OBSERVE, WATCH)}

    def _insert(self, kind: str, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any]) -> Any:
        op, slot, graph_id, flags, detached = ids
        types = attr_value_pb2.AttrValue.ListValue(type=[t.dtype.as_datatype_enum for t in evidence])
        attrs = {
            "T": attr_value_pb2.AttrValue(type=tensor.dtype.as_datatype_enum),
            "E": attr_value_pb2.AttrValue(list=types),
            "op": _integer(op),
            "slot": _integer(slot),
            "graph": _integer(graph_id),
            "flags": _integer(flags),
            "detached": _integer(detached),
        }
        return graph._create_op_internal(
            kind,
            [tensor, *evidence],
            [tensor.dtype] if kind == OBSERVE else [],
            name=f"tdbg/{op}_{slot}/",  # a trailing slash: outside the user's name scopes, which stay as they were
            attrs=attrs,
            op_def=self._definitions[kind],
        )

    def observe(self, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any]) -> Any:
        """The tensor that consumers should use from now on."""
        return self._insert(OBSERVE, graph, tensor, ids, evidence).outputs[0]

    def watch(self, graph: Any, tensor: Any, ids: Sequence[int]) -> None:
        """Records the tensor without touching its consumers."""
        self._insert(WATCH, graph, tensor, ids, ())


class PythonObservers:
    """The same through TensorFlow's own PyFunc: slower, for machines without the compiled extension."""

    name = "python"

    def __init__(self, lib: Any) -> None:
        self._lib = lib

    def watch(self, graph: Any, tensor: Any, ids: Sequence[int]) -> None:
        lib, (op, slot, graph_id, flags, detached) = self._lib, ids

        def record(value: Any) -> Any:
            lib.graph_tensor(op, slot, graph_id, flags, bool(detached), value)
            return 0

        with graph.as_default(), ops.control_dependencies(None), ops.name_scope(f"tdbg/{op}_{slot}/"):
            tf.numpy_function(record, [tensor], tf.int64, stateful=True)

    def observe(self, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any]) -> Any:
        self.watch(graph, tensor, ids)
        return tensor
