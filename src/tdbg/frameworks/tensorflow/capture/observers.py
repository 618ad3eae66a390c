"""Puts an op behind a graph's tensor that records it at run time and passes it on unchanged.

Observers are stateless, so one lives or dies with the consumers of its tensor, as the plain program's tensor does. The
consumers of a function's argument must not be rewired: an argument gets a watch, a stateful sink beside the data flow.
TensorFlow makes arguments before it begins to note which ops must run, so watches are added to the graph's control
outputs when it is finished (``graphs.py``).
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Sequence
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import attr_value_pb2
from tensorflow.python.client import pywrap_tf_session as session
from tensorflow.python.eager import record as tape_record
from tensorflow.python.framework import auto_control_deps, ops
from tensorflow.python.ops import control_flow_v2_func_graphs
from tensorflow.python.platform import sysconfig

from tdbg.capture import faults
from tdbg.errors import TdbgError
from tdbg.frameworks.tensorflow.capture import checks, saving
from tdbg.frameworks.tensorflow.capture.breaks import OpBreaks
from tdbg.frameworks.tensorflow.capture.saving import NAMES, OBSERVE, PYTHON, WATCH

_LOOPS = (control_flow_v2_func_graphs.WhileBodyFuncGraph, control_flow_v2_func_graphs.WhileCondFuncGraph)


def is_observer(op: Any) -> bool:
    """Whether a graph's op is tdbg's own; its first input is what it observes."""
    return op.type in (OBSERVE, WATCH) or (op.type in PYTHON and op.name.startswith(NAMES))


def register_ops(lib: Any) -> None:
    """Makes the native ops known to TensorFlow; once per process."""
    library = sysconfig.get_lib() + "/libtensorflow_framework.so.2"
    problem = lib.register_tensorflow(library)
    if problem:
        raise TdbgError(f"the native observer does not work with this TensorFlow: {problem}")


def register(lib: Any) -> None:
    """The same, and what graphs with observers in them need; kept after disable()."""
    register_ops(lib)
    try:
        ops.RegisterGradient(OBSERVE)(_gradient)
    except KeyError:  # registered before
        return
    saving.install()
    # A watch has no output: keep it alive in functions, in no particular order.
    auto_control_deps.MUST_RUN_ORDER_INSENSITIVE_STATEFUL_OPS |= frozenset([WATCH])


def _gradient(op: Any, gradient: Any) -> list[Any]:
    return [gradient] + [None] * (len(op.inputs) - 1)


def _integer(value: int) -> bytes:
    return attr_value_pb2.AttrValue(i=value).SerializeToString()


@functools.cache
def _type(dtype: Any) -> bytes:
    return attr_value_pb2.AttrValue(type=dtype.as_datatype_enum).SerializeToString()


@functools.cache
def _types(dtypes: tuple[Any, ...]) -> bytes:
    types = attr_value_pb2.AttrValue.ListValue(type=[dtype.as_datatype_enum for dtype in dtypes])
    return attr_value_pb2.AttrValue(list=types).SerializeToString()


class NativeObservers:
    """Inserts the native ops; needs the extension."""

    name = "native"

    def __init__(self, lib: Any) -> None:
        register(lib)
        self.remember = lib.note_input  # see native/stopping/input_notes.h: instead of taking an input along

    def _insert(self, kind: str, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any]) -> Any:
        """A graph gets an observer on most of its tensors, so this takes the short way, through TensorFlow's C API.

        What is left out of ``Graph.create_op`` is what an observer has no use for: it is where its input is, it runs
        when its input is there, and no name, colocation or attribute scope of the user's program concerns it.
        """
        op, slot, graph_id, flags, how = ids  # how: detached, unrecorded << 1, check << 8
        with graph._c_graph.get() as c_graph:
            made = session.TF_NewOperation(c_graph, kind, f"{NAMES}{op}_{slot}{'' if kind == OBSERVE else '_watch'}")
        device = tensor.device
        if device:
            session.TF_SetDevice(made, device)
        session.TF_AddInput(made, tensor._as_tf_output())
        session.TF_AddInputList(made, [t._as_tf_output() for t in evidence])
        set_attribute = session.TF_SetAttrValueProto
        set_attribute(made, "T", _type(tensor.dtype))
        set_attribute(made, "E", _types(tuple(t.dtype for t in evidence)))
        set_attribute(made, "where", _integer(op | graph_id << 32))
        set_attribute(made, "how", _integer(slot | flags << 16 | how << 32))
        observer = ops.Operation._from_c_op(session.TF_FinishOperation(made), graph)
        if observer._control_flow_context is not None:  # of TensorFlow 1's loops and conditionals
            observer._control_flow_post_processing()
        graph._record_op_seen_by_control_dependencies(observer)
        return observer

    def observe(self, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any]) -> Any:
        """The tensor that consumers should use from now on."""
        return self._insert(OBSERVE, graph, tensor, ids, evidence).outputs[0]

    def watch(self, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any] = ()) -> Any:
        """Records the tensor without touching its consumers; gives the op, which the function must be told to run."""
        return self._insert(WATCH, graph, tensor, ids, evidence)


class PythonObservers:
    """The same through TensorFlow's own PyFunc: slower, for machines without the compiled extension."""

    name = "python"
    remember = None

    def __init__(self, lib: Any) -> None:
        self._lib = lib
        self.breaks: OpBreaks | None = None  # what holds the program; native observers ask by themselves
        saving.install()
        with contextlib.suppress(KeyError):  # registered before
            ops.RegisterGradient(OBSERVE)(_gradient)

    def observe(self, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any]) -> Any:
        """The tensor that consumers should use from now on: as with the native op, it lives or dies with them."""
        with graph.gradient_override_map({"PyFuncStateless": OBSERVE}):
            observed = self._insert(graph, tensor, ids, evidence, stateful=False)
        observed.set_shape(tensor.shape)
        if not tensor.device:  # numpy_function asks for this host, and gradients are summed device by device
            observed.op._set_device("")
        return observed

    def watch(self, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any] = ()) -> Any:
        """Records the tensor without touching its consumers; gives the op, which the function must be told to run."""
        recorded = self._insert(graph, tensor, ids, evidence, stateful=True)
        if graph.experimental_acd_manager is not None:
            graph.experimental_acd_manager.run_independently(recorded.op)
        return recorded.op

    def _insert(self, graph: Any, tensor: Any, ids: Sequence[int], evidence: Sequence[Any], stateful: bool) -> Any:
        lib, (op, slot, graph_id, flags, how) = self._lib, ids
        detached, unrecorded, check = bool(how & 1), bool(how & 2), how >> 8
        counter = _loop_counter(graph)

        def passes_through(value: Any, *others: Any) -> Any:
            iteration = int(others[-1]) if counter else -1
            given = others[: len(evidence)]
            with faults.guard("recording a graph's tensor"):
                if not unrecorded:
                    lib.graph_tensor(op, slot, graph_id, flags, detached, value, given, iteration)
            if self.breaks is not None:
                self.breaks.python_observer(op, slot, value, given, iteration)
            if check:
                checks.python_observer(check, op, slot, value, given, iteration)
            return value

        # Nothing here leaves a mark on the user's names, control dependencies and tapes. The output shares its memory
        # with the input, which is safe: PyFunc marks it as not its own, so that no later op computes in place in it.
        inputs = [tensor, *evidence, *counter]
        name = f"{NAMES}{op}_{slot}{'_watch' if stateful else ''}/"
        with graph.as_default(), ops.control_dependencies(None), tape_record.stop_recording():
            return tf.numpy_function(passes_through, inputs, tensor.dtype, stateful=stateful, name=name)


def _loop_counter(graph: Any) -> list[Any]:
    """The tensor that counts the iterations, when the graph is the body or the condition of a loop; else nothing.

    Of a conditional or a function inside a loop the iteration stays unknown: to bring the counter there would add
    arguments to the user's graphs.
    """
    if not isinstance(graph, _LOOPS):
        return []
    # It is the first argument; while the arguments are being made they are not in graph.inputs yet.
    return [graph.inputs[0] if graph.inputs else graph.get_operations()[0].outputs[0]]
