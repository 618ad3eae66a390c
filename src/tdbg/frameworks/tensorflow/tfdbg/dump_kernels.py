"""Makes debug options with which tdbg's own kernel writes the dumps that TensorFlow would, faster.

The kernel (``native/dump_op.c``) cannot read tensors that are no plain memory. Which those are is known once TensorFlow
has dumped a run of the same fetches and feeds, and with it the graph; they are left to TensorFlow's DebugIdentity.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import tensorflow as tf
from tensorflow.core.framework import types_pb2
from tensorflow.core.protobuf import debug_pb2
from tensorflow.python.client import session as tf_session

from tdbg import native
from tdbg.capture import faults
from tdbg.errors import TdbgError
from tdbg.formats.dumps.names import as_path, split_element, tensor_name
from tdbg.frameworks.tensorflow.capture.observers import register_ops
from tdbg.frameworks.tensorflow.reading_dumps.dump_graphs import load_partition_graph, ref_outputs
from tdbg.frameworks.tensorflow.sessions.debug_nodes import tensor_of
from tdbg.frameworks.tensorflow.sessions.executor_cost import ExecutorCost
from tdbg.frameworks.tensorflow.tfdbg.dump_root import IDENTITY, KeptGraph

OP = "TdbgDump"
_LEARNT_FROM = 10  # runs; each executor counts its own (executor_step_index), so short programs keep to one
_RENAMED = ("_Recv", "_HostRecv")  # numbered throughout the Session
_NO_PLAIN_MEMORY = (types_pb2.DT_STRING, types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT)


class Plan:
    """How runs with the same fetches and feeds are dumped."""

    def __init__(self) -> None:
        self._cost: ExecutorCost | None = ExecutorCost(_LEARNT_FROM)  # None: it is decided
        self._left_to_tensorflow: frozenset[str] | None = None  # None: all tensors
        self._by_url: dict[str, Any] = {}

    def apply(self, debug_options: Any, url: str) -> bool:
        """Whether the run is dumped by tdbg's kernel; the options ask for it then."""
        if self._left_to_tensorflow is None:
            return False
        own = self._by_url.get(url)
        if own is None:
            own = self._by_url[url] = _through_own_kernel(debug_options, self._left_to_tensorflow)
        debug_options.CopyFrom(own)
        return True

    def ended(self, seconds: float, graphs: Sequence[KeptGraph]) -> None:
        """A run was dumped by TensorFlow; these are its graphs."""
        cost = self._cost
        if cost is not None and graphs and cost.took(seconds):
            self._cost = None
            self._left_to_tensorflow = _not_for_own_kernel(graph.copy for graph in graphs)


class DumpKernels:
    """The plans of one wrapper."""

    def __init__(self) -> None:
        self._session: Any = None
        self._plans: dict[tuple, Plan] = {}
        self._is_at_hand = native.AVAILABLE and _register()

    def plan(self, session: Any, fetches: Any, feed_dict: Any, watched: str) -> Plan | None:
        """None where such runs can only be dumped by TensorFlow: in another process, or when it is not certain which
        runs are alike."""
        if not self._is_at_hand or not _runs_what_it_is_told(session):
            return None
        try:
            key = (_exact(fetches), tuple(map(_exact, feed_dict or ())), watched)
        except TypeError:
            return None
        if self._session is not session:
            self._session, self._plans = session, {}
        return self._plans.setdefault(key, Plan())


def _register() -> bool:
    try:
        register_ops(native.lib)
        return True
    except TdbgError as problem:
        faults.say(f"dumps are written by TensorFlow's own ops, which is slower: {problem}")
        return False


def _runs_what_it_is_told(session: Any) -> bool:
    """A MonitoredSession fetches for its hooks too."""
    return isinstance(session, tf_session.BaseSession) and (
        type(session).run is tf_session.BaseSession.run and not session._target
    )


def _exact(element: Any) -> Any:
    """Fetches and feeds by the names of tensors and ops; TypeError for what may stand for others from run to run."""
    if isinstance(element, str):
        return element
    if isinstance(element, list | tuple):
        return tuple(map(_exact, element))
    if isinstance(element, dict):
        return tuple(map(_exact, element.values()))
    if hasattr(element, "_as_graph_element"):
        element = element._as_graph_element()
    if not isinstance(element, tf.Tensor | tf.Operation):
        raise TypeError(element)
    return element.name


def _not_for_own_kernel(files: Iterable[Path]) -> frozenset[str] | None:
    """The tensors of partition graphs that only TensorFlow can dump; None where they have other names in the next
    executor. A reference may be to a variable without a value, of which only TensorFlow knows the shape."""
    found = set()
    for file in files:
        graph = load_partition_graph([str(file)])
        types = {node.name: node.op for node in graph.node}
        for node in graph.node:
            if node.op != IDENTITY or not node.name.startswith("__dbg_"):
                continue
            name, device = node.attr["tensor_name"].s.decode(), node.attr["device_name"].s.decode()
            source, slot = split_element(name)
            if (
                node.attr["T"].type in _NO_PLAIN_MEMORY
                or not device.rpartition("/")[2].startswith("device:CPU:")
                or slot in ref_outputs(types.get(source, ""))
                or as_path(source) != source
            ):
                if types.get(source) in _RENAMED:
                    return None
                found.add(name)
    return frozenset(found)


def _through_own_kernel(given: Any, left_to_tensorflow: frozenset[str]) -> Any:
    """DebugOptions in which every DebugIdentity is tdbg's kernel, but for these tensors. A tensor that is watched by
    name does not take part in the watch of all."""
    own = debug_pb2.DebugOptions()
    own.CopyFrom(given)
    named = {tensor_name(watch.node_name, watch.output_slot) for watch in given.debug_tensor_watch_opts}
    for watch in own.debug_tensor_watch_opts:
        if tensor_name(watch.node_name, watch.output_slot) not in left_to_tensorflow:
            watch.debug_ops[:] = [OP]
    for every in given.debug_tensor_watch_opts:
        if every.node_name == "*":
            for name in sorted(left_to_tensorflow - named):
                watch = own.debug_tensor_watch_opts.add()
                watch.CopyFrom(every)
                watch.node_name, watch.output_slot = tensor_of(name)
    return own
