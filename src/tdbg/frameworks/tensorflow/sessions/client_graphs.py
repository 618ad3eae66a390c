"""Remembers where the program made each op of a Session's graph, in which phase, and what it differentiates."""

from __future__ import annotations

import itertools
import os
import weakref
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from tensorflow.python.framework import func_graph, ops

from tdbg.capture.source import Sources
from tdbg.frameworks.tensorflow.ops import writes_variable
from tdbg.model import Phase


class ClientOp(NamedTuple):
    """An op as the program made it."""

    number: int  # among all ops that programs made for Sessions; not an op of the trace
    name: str
    type: str
    stack: int
    phase: Phase
    forward: int  # the number of the op that it differentiates
    graph: Callable[[], Any]  # a weak reference


class ClientGraphs:
    """Graphs that are run by Sessions, with the functions in them (loops and conditionals above all).

    ``is_exact``: also all functions, since these too are looked at as the runtime makes them.
    """

    def __init__(self, sources: Sources, is_exact: bool = False) -> None:
        self._sources, self._is_exact = sources, is_exact
        self._numbers = itertools.count()
        self._ops: weakref.WeakKeyDictionary[Any, dict[str, ClientOp]] = weakref.WeakKeyDictionary()
        self._owned: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self._functions: dict[str, dict[str, ClientOp]] = {}
        self.targets: dict[int, tuple[int, int]] = {}  # ClientOp.number -> slot, for how many variables

    def owns(self, graph: Any) -> bool:
        """Whether the runtime rewrites it before it is looked at. Functions of datasets run apart."""
        if not isinstance(graph, func_graph.FuncGraph):
            return isinstance(graph, ops.Graph)
        found = self._owned.get(graph)
        if found is None:
            found = self._owned[graph] = self._is_in_session_graph(graph)
        return found

    def _is_in_session_graph(self, graph: Any) -> bool:
        """Not a dataset's, and not of a SavedModel that is loaded, which is done in a graph that stays empty."""
        outer = graph.outer_graph
        if "Dataset_" in (graph.name or ""):
            return False
        if self._is_exact:
            return not isinstance(outer, func_graph.FuncGraph) or self.owns(outer)
        if outer is None:
            return False
        if isinstance(outer, func_graph.FuncGraph):  # what is around a function in a function, TensorFlow does not tell
            return self.owns(outer)
        return outer.version > 0 and not ops.executing_eagerly_outside_functions()

    def created(self, graph: Any, op_type: str, name: str, stack: int, forward: int) -> None:
        """An op was made: this is told while its stack is at hand."""
        info = self._sources.info(stack)
        phase = Phase.UPDATE if writes_variable(op_type) and info.phase is None else (info.phase or Phase.FORWARD)
        made = ClientOp(next(self._numbers), name, op_type, stack, phase, forward, weakref.ref(graph))
        self._ops.setdefault(graph, {})[name] = made

    def finished(self, name: str, graph: Any) -> None:
        """A graph became a function, of which the runtime tells the name only."""
        self._functions[name] = self._ops.setdefault(graph, {})

    def phases(self, graph: Any) -> set[Phase]:
        """Of the ops that were made in a graph."""
        return {op.phase for op in self._ops.get(graph, {}).values()}

    def op(self, graph: Any, name: str) -> ClientOp | None:
        """One op by its name; of ops made before recording began TensorFlow's own tracebacks tell."""
        known = self._ops.setdefault(graph, {})
        found = known.get(name)
        if found is None:
            try:
                made = graph.get_operation_by_name(name)
            except (KeyError, ValueError):
                return None
            self.created(graph, made.type, name, self._sources.of_frames(_frames(made)), -1)
            found = known[name]
        return found

    def line(self, op: ClientOp) -> str:
        """The file and line of the program that made an op; empty: not known."""
        frame = self._sources.info(op.stack).user
        return f"{os.path.basename(frame.file)}:{frame.line}" if frame is not None else ""

    def in_function(self, function: str, name: str) -> ClientOp | None:
        """One op of a function; Grappler makes copies of functions and numbers the outputs in their names."""
        known = self._functions.get(function) or self._functions.get(function.split("_rewritten")[0], {})
        return known.get(name) or known.get(name.rpartition("_")[0])

    def target(self, tensor: Any, variables: int) -> None:
        """A gradient is taken of a tensor."""
        number = self.number(tensor.op)
        if number >= 0 and variables >= self.targets.get(number, (0, 0))[1]:
            self.targets[number] = tensor.value_index, variables

    def number(self, op: Any) -> int:
        found = self.op(op.graph, op.name)
        return found.number if found is not None else -1


def behind(fetched: Iterable[Any], fed: set[str]) -> list[Any]:
    """The ops that a run needs: those behind its fetches, up to the tensors that it is fed."""
    found, waiting = [], list(fetched)
    seen = {op.name for op in waiting}
    while waiting:
        op = waiting.pop()
        found.append(op)
        inputs = [tensor.op for tensor in op.inputs if tensor.name not in fed]
        for before in (*inputs, *op.control_inputs):
            if before.name not in seen:
                seen.add(before.name)
                waiting.append(before)
    return found


def _frames(op: Any) -> list[tuple[str, int, str]]:
    """The outermost first."""
    traceback = op.traceback or ()
    return [(frame.filename, frame.lineno, frame.name) for frame in traceback]
