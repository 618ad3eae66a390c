"""Runs functions as the plain program does, and looks at every tensor of what TensorFlow's optimizers made of them.

An observer inside a function keeps TensorFlow from fusing, folding and reordering, so a value that only the rewritten
function computes does not exist under tdbg. Here nothing is put into the function that the program traced. When it is
first called, the graph that TensorFlow would run is asked for; the function that is called instead is that very graph,
with watches beside its tensors, and is not optimized again. That both run the same ops is compared, not assumed.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from tensorflow.core.framework import graph_pb2, node_def_pb2
from tensorflow.python.eager import context
from tensorflow.python.eager.polymorphic_function import atomic_function
from tensorflow.python.framework import ops

from tdbg.capture import faults
from tdbg.capture.policy import Policy
from tdbg.capture.source import Sources
from tdbg.frameworks.tensorflow.capture import optimized
from tdbg.frameworks.tensorflow.capture.saving import NAMES, WATCH
from tdbg.frameworks.tensorflow.capture.signatures import NOT_TRACED
from tdbg.frameworks.tensorflow.capture.xla import is_compiled
from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs
from tdbg.frameworks.tensorflow.sessions.node_types import output_types
from tdbg.frameworks.tensorflow.sessions.runtime_graphs import RuntimeGraph
from tdbg.model import Phase

NOTE = "exact: functions were run as TensorFlow's optimizers rewrote them; functions of datasets were not looked inside"
_SUFFIX = "_exact"


class Traced(NamedTuple):
    """How a function came to be."""

    stack: int = -1
    signature: tuple = NOT_TRACED


class ExactFunction(NamedTuple):
    """A function that the program calls, as one graph of the trace."""

    number: int
    name: str
    has_gradient: bool
    has_update: bool
    runtime: Any = None  # the function that is called instead; None: this one is seen from outside
    config: bytes = b""

    @property
    def compiled(self) -> bool:
        return self.runtime is None


class FunctionGraph(RuntimeGraph):
    """The rows of one optimized function, and the watches that belong into it."""

    def __init__(self, name: str, traced: Traced, *given: Any) -> None:
        super().__init__(*given)
        self._name, self._signature = name, traced.signature
        self._arguments: dict[int, str] = {}

    def learn(self, graph: graph_pb2.GraphDef) -> None:
        self._arguments = {node.attr["index"].i: node.name for node in graph.node if node.op in optimized.ARGUMENTS}
        self._learn(graph)

    def _write_function(self) -> None:
        last = max(self._arguments, default=-1)
        results = [self._results[index] for index in sorted(self._results)]
        self._recorder.add(
            "functions",
            (
                self._name,
                self.number,
                [self._numbers.get(self._arguments.get(index, ""), -1) for index in range(last + 1)],
                [self._number(name) for name, _ in results],
                [slot for _, slot in results],
                *self._signature,
            ),
        )

    def watches(self, graph: graph_pb2.GraphDef) -> Iterator[Any]:  # type: ignore[override]
        """A node for each tensor that has rows, with the inputs of ops that can make bad values."""
        nodes = {node.name: node for node in graph.node}
        names = {number: name for name, number in self._numbers.items()}
        for tensor, (op, slot, number, flags, has_row, _, evidence) in self._kernels.items():
            node = nodes.get(tensor.rpartition(":")[0])
            if not has_row or node is None:
                continue
            known = [(names[made >> 16], made & 0xFFFF) for made in evidence]
            watch = node_def_pb2.NodeDef(name=f"{NAMES}{op}_{slot}_watch", op=WATCH, device=node.device)
            watch.input.extend([tensor, *(f"{name}:{at}" for name, at in known)])
            watch.attr["T"].type = output_types(node)[slot]
            watch.attr["E"].list.type.extend(output_types(nodes[name])[at] for name, at in known)
            watch.attr["where"].i = op | number << 32
            watch.attr["how"].i = slot | flags << 16
            yield watch


class ExactFunctions:
    """All functions of this process while they run exactly."""

    def __init__(
        self, recorder: Any, sources: Sources, policy: Policy, clients: ClientGraphs, next_op: Callable[[], int],
        next_graph: Callable[[], int],
    ) -> None:  # fmt: skip
        self._recorder, self._sources, self._policy, self._clients = recorder, sources, policy, clients
        self._next_op, self._next_graph = next_op, next_graph
        self._can_look_inside = recorder.lib.IS_NATIVE
        self._known: dict[str, ExactFunction] = {}
        self._traced: weakref.WeakKeyDictionary[Any, Traced] = weakref.WeakKeyDictionary()
        self._by_client: dict[int, int] = {}  # ClientOp.number -> op of whatever graph came first
        self._lock = threading.RLock()
        self._make = atomic_function.from_func_graph  # the plain one: what is made here is no graph of the program's
        self._call = context.Context.call_function
        recorder.note("exact", NOTE)

    def install(self) -> None:
        def call_function(ctx: Any, name: bytes, inputs: Sequence[Any], outputs: int) -> Any:
            known = self._known.get(name.decode())
            if known is None or known.runtime is None:
                return self._call(ctx, name, inputs, outputs)
            return optimized.run(known.runtime.name.decode(), inputs, outputs, known.config)

        self._ours = context.Context.call_function = call_function

    def remove(self) -> None:
        if context.Context.call_function is self._ours:
            context.Context.call_function = self._call

    def after_fork(self) -> None:
        self._lock = threading.RLock()

    def traced(self, graph: Any, stack: int, signature: tuple) -> None:
        """A function is being made of a graph."""
        self._traced[graph] = Traced(stack, signature)

    def function(self, function: Any, name: str, inputs: Sequence[Any]) -> ExactFunction:
        """What is known of a function that is about to be called."""
        found = self._known.get(name)
        if found is None:
            with self._lock:
                found = self._known.get(name) or self._known.setdefault(name, self._new(function, name, inputs))
        return found

    def _new(self, function: Any, name: str, inputs: Sequence[Any]) -> ExactFunction:
        number, graph = self._next_graph(), function.graph
        traced = self._traced.get(graph, Traced())
        shown = getattr(graph, "name", "") or name
        self._recorder.add("graphs", (number, -1, shown, shown, traced.stack, time.time_ns()))
        phases = self._clients.phases(graph)
        outside = ExactFunction(number, shown, Phase.BACKWARD in phases, Phase.UPDATE in phases)
        if is_compiled(function):
            self._recorder.note("xla", f"XLA compiled {shown}: only what went in and came out was recorded")
            return outside
        if not self._can_look_inside:
            self._recorder.note("exact", "without the compiled extension, functions were recorded from outside only")
            return outside
        try:
            return self._rewritten(function, name, inputs, outside, traced)
        except Exception as error:
            faults.report(f"looking inside function {shown}", error)
            return outside

    def _rewritten(
        self, function: Any, name: str, inputs: Sequence[Any], outside: ExactFunction, traced: Traced
    ) -> ExactFunction:
        outputs, config = len(function.graph.outputs), optimized.configuration()
        plain = optimized.graphs_of(name, inputs, outputs, config)
        graph = plain.graph
        rows = FunctionGraph(
            name, traced, outside.number, "", function.graph, [], self._recorder, self._sources, self._policy,
            self._clients, self._next_op, None, self._by_client,
        )  # fmt: skip
        rows.learn(graph)
        nodes = {node.name for node in graph.node}
        controls = [control for control in function.cached_definition.control_ret.values() if control in nodes]
        watched = graph_pb2.GraphDef()
        watched.CopyFrom(graph)
        watched.node.extend(rows.watches(graph))
        config = optimized.as_it_is(config)
        with ops.init_scope():
            runtime = optimized.function_of(name + _SUFFIX, watched, function.graph, controls, self._make)
        ours = optimized.graphs_of(runtime.name.decode(), inputs, outputs, config)
        differences = optimized.differences(plain, ours, NAMES)
        if differences:
            text = f"function {outside.name}: TensorFlow computes {len(differences)} ops differently than without tdbg"
            self._recorder.note("exact", f"{text}, {differences[0]} among them")
        return ExactFunction(
            outside.number, outside.name, outside.has_gradient or Phase.BACKWARD in rows.phases,
            outside.has_update or Phase.UPDATE in rows.phases, runtime, config,
        )  # fmt: skip
