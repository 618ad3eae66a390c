"""Finds which call each graph trace belongs to, which graph each call ran, and the training steps, from times and
graphs.

TensorFlow notes an execution when it is over, and a trace when it happens, on one clock. So a trace belongs to the
first execution that was noted after it, if that is a call of a function.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from tdbg.formats.debug_events.recorded_graphs import Program
from tdbg.frameworks.tensorflow.ops import writes_variable
from tdbg.model import Phase

_FUNCTION = re.compile(r"__(?P<kind>inference|forward|backward)_(?P<name>.+)_(?P<number>\d+)")
_DATASET = re.compile(r"Dataset_")


@dataclass
class Executions:
    """All executions of a process in the order they were noted; columns of equal length."""

    time: np.ndarray  # seconds, never falling
    op: np.ndarray  # the op row of the place that ran it
    function: list[str]  # the function's name, empty for an op
    told_graph: list[str]  # the graph's id where TensorFlow says it
    inputs: list[int]  # how many

    def __len__(self) -> int:
        return len(self.time)


def is_function(op_type: str) -> bool:
    return op_type.startswith("__")


class Calls:
    """Joins executions and traces of one process."""

    def __init__(self, program: Program, executions: Executions, times: np.ndarray, roots: np.ndarray) -> None:
        """``times`` of all traces, never falling, and ``roots``: the function that each one's graph is part of."""
        self._program, self._executions = program, executions
        self._calls = np.array([bool(name) for name in executions.function], bool)
        self.graph = self._resolve(times, roots)
        self.starts, self.step = self._find_steps()  # (first execution, source) of each step; step of each execution

    # ---- traces

    def pending(self, times: np.ndarray) -> np.ndarray:
        """The execution that was going on, or came next; the number of executions when none did."""
        return np.searchsorted(self._executions.time, times, "left")

    def execution_of(self, times: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """The call that each trace belongs to; -1: none that was noted (it failed, or a dataset ran it)."""
        at = self.pending(times)
        is_call = np.zeros(len(self._executions) + 1, bool)
        is_call[:-1] = self._calls
        detached = np.array([self.is_dataset(graph) for graph in range(len(self._program.graphs))] or [False], bool)
        return np.where(is_call[at] & ~detached[roots], at, -1)

    def is_dataset(self, graph: int) -> bool:
        return bool(_DATASET.search(self._program.graphs[self._program.root(graph)].name))

    # ---- graphs

    def _resolve(self, times: np.ndarray, roots: np.ndarray) -> dict[str, int]:
        """Function name -> graph number. Told for some; else by the traces of its calls; else by its name."""
        known: dict[str, int] = {}
        for name, told in zip(self._executions.function, self._executions.told_graph, strict=True):
            if name and told in self._program.graph_numbers:
                known[name] = self._program.graph_numbers[told]
        for name, graph in self._by_traces(times, roots).items():
            known.setdefault(name, graph)
        missing = sorted({name for name in self._executions.function if name} - known.keys(), key=_order)
        by_base: dict[str, list[str]] = {}
        for name in missing:
            by_base.setdefault(_base(name), []).append(name)
        for base, names in by_base.items():
            taken = set(known.values())
            graphs = [n for n, graph in enumerate(self._program.graphs) if graph.name == base and n not in taken]
            if len(graphs) == len(names):  # both are in the order of tracing
                known.update(zip(names, graphs, strict=True))
        return known

    def _by_traces(self, times: np.ndarray, roots: np.ndarray) -> dict[str, int]:
        owners = self.execution_of(times, roots) if len(times) else np.empty(0, np.int64)
        graphs_there = max(len(self._program.graphs), 1)
        pairs, counts = np.unique((owners * graphs_there + roots)[owners >= 0], return_counts=True)
        votes: dict[str, Counter[int]] = {}
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            execution, root = divmod(pair, graphs_there)
            votes.setdefault(self._executions.function[execution], Counter())[root] += count
        found = {}
        for name, graphs in votes.items():
            named = {g: n for g, n in graphs.items() if self._program.graphs[g].name == _base(name)}
            if named:
                found[name] = max(named, key=lambda graph: named[graph])
            elif len(graphs) == 1:
                found[name] = next(iter(graphs))
        return found

    # ---- steps

    def _find_steps(self) -> tuple[list[tuple[int, str]], np.ndarray]:
        """A step ends with the last update before the next gradient is taken; a call of a function that does both
        is a step. Without gradients and updates all is step 0."""
        trains = self._trains()
        phases = {op.number: (op.phase, op.type) for op in self._program.ops}
        starts = [(0, "start")]
        saw_gradient = saw_update = False
        last_update = -1
        for at, (op, name) in enumerate(zip(self._executions.op.tolist(), self._executions.function, strict=True)):
            if name:
                gradient, update = trains.get(self.graph.get(name, -1), (False, False))
                gradient = gradient or name.startswith("__backward_")
            else:
                phase, kind = phases[op]
                gradient, update = phase == Phase.BACKWARD, phase == Phase.UPDATE and writes_variable(kind)
            if gradient and saw_update:
                starts.append((at if update else last_update + 1, "found"))
                saw_gradient = saw_update = False
            saw_gradient = saw_gradient or gradient
            if update and saw_gradient:
                saw_update, last_update = True, at
        first = np.array([start for start, _ in starts], np.int64)
        step = np.searchsorted(first, np.arange(len(self._executions)), "right") - 1
        return starts, step.astype(np.int32)

    def _trains(self) -> dict[int, tuple[bool, bool]]:
        """For each function's graph: whether it, or a graph in it, takes gradients, and updates variables."""
        found: dict[int, list[bool]] = {}
        for op in self._program.ops:
            if op.graph >= 0 and op.phase in (Phase.BACKWARD, Phase.UPDATE):
                is_write = writes_variable(op.type)
                has = found.setdefault(self._program.root(op.graph), [False, False])
                has[0] = has[0] or op.phase == Phase.BACKWARD
                has[1] = has[1] or is_write
        return {graph: (has[0], has[1]) for graph, has in found.items()}

    # ---- functions

    def functions(self) -> list[tuple[str, int, list[int]]]:
        """(name, graph, argument ops). Results are not told by TensorFlow; arguments only when their number fits."""
        arguments: dict[int, list[int]] = {}
        for op in self._program.ops:
            if op.graph >= 0 and op.type.startswith("Placeholder"):
                arguments.setdefault(op.graph, []).append(op.number)
        given = dict(zip(self._executions.function, self._executions.inputs, strict=True))
        rows = [(name, graph, arguments.get(graph, []), given.get(name, -1)) for name, graph in self.graph.items()]
        for op in self._program.ops:
            for name in op.attributes.values():
                inner = [n for n, graph in enumerate(self._program.graphs) if graph.name == name]
                rows += [(name, graph, arguments.get(graph, []), len(op.inputs)) for graph in inner[:1]]
        return [(name, graph, ops if len(ops) == count else []) for name, graph, ops, count in rows]


def _base(function: str) -> str:
    match = _FUNCTION.fullmatch(function)
    return match["name"] if match else function


def _order(function: str) -> tuple[int, str]:
    match = _FUNCTION.fullmatch(function)
    return (int(match["number"]) if match else 0, function)
