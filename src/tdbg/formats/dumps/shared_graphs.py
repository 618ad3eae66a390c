"""Finds the graphs that runs share, and writes them with their ops and variables, all numbered, as rows."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import NamedTuple

from tdbg.formats.dumps.runs import Run, RunFolder
from tdbg.formats.dumps.runtime_graph import UNKNOWN_TYPE, Op, Partition, RuntimeGraph, build_graph
from tdbg.frameworks.tensorflow.ops import NAME, kind_of, roles_of

_REMEMBERED = 256  # contents of graph files


class GraphOfRun(NamedTuple):
    """A graph, and how the nodes that are named anew in each run are called there, by device."""

    graph: RuntimeGraph
    names: dict[str, dict[str, str]]


class Program:
    """Everything that the runs of a dump root ran."""

    def __init__(self) -> None:
        self.ops: list[Op] = []
        self._graphs: dict[bytes, RuntimeGraph] = {}
        self._by_files: dict[bytes, GraphOfRun] = {}
        self._first_runs: list[Run] = []  # of each graph
        self._sites: dict[int, int] = {}
        self._variables: dict[str, int] = {}

    @property
    def graphs(self) -> list[RuntimeGraph]:
        return list(self._graphs.values())

    def graph_of(self, folder: RunFolder, run: Run) -> GraphOfRun:
        """Runs that asked for the same and ran the same nodes share a graph; in the file of each is the name of its own
        folder, so the files alone do not tell."""
        files = list(folder.graphs())
        place = os.path.basename(folder.files.root).encode()
        content = [graph.replace(place, b"") for _, graphs in files for graph in graphs]
        asked = repr((run.fetches, run.targets, run.feeds)).encode("utf-8", "replace")
        same_files = blake2b(b"\0".join((asked, *content))).digest()
        found = self._by_files.get(same_files)
        if found is None:
            partitions = [Partition(device, folder.nodes(graphs)) for device, graphs in files]
            graph = self._by_nodes(partitions, asked, run)
            found = GraphOfRun(graph, {part.device: part.lasting_names for part in partitions})
            if len(self._by_files) < _REMEMBERED:
                self._by_files[same_files] = found
        return found

    def _by_nodes(self, partitions: list[Partition], asked: bytes, run: Run) -> RuntimeGraph:
        lines = sorted(line for part in partitions for line in part.lines())
        key = blake2b(asked + "\n".join(lines).encode("utf-8", "replace")).digest()
        graph = self._graphs.get(key)
        if graph is None:
            graph = self._graphs[key] = build_graph(len(self._graphs), len(self.ops), partitions)
            self.ops += graph.ops.values()
            self._sites[graph.number] = len(self.ops)
            self.ops.append(Op(len(self.ops), -1, "Session.run", "Session.run", ""))
            self._first_runs.append(run)
        return graph

    def op_of(self, found: GraphOfRun, device: str, node: str) -> Op:
        """The op of a dump; made up when no graph has it."""
        lasting = found.names.get(device, {}).get(node, node)
        op = found.graph.op_of(device, lasting, len(self.ops))
        if op.number == len(self.ops):
            self.ops.append(op)
        return op

    def site_of(self, graph: RuntimeGraph) -> int:
        """The op row that stands for the calls of run() that ran this graph."""
        return self._sites[graph.number]

    def handles_of(self, graph: RuntimeGraph) -> list[int]:
        """A number for each variable of the graph; the same in all graphs of the program."""
        return [self._variables.setdefault(op.name, len(self._variables)) for op in graph.variables]

    @property
    def unknown_ops(self) -> int:
        return sum(op.type == UNKNOWN_TYPE for op in self.ops)

    @property
    def watched(self) -> tuple[int, int]:
        """How many ops that make something the debugger watched, and how many there are."""
        makers = [op for graph in self.graphs for op in graph.makers]
        return sum(op.is_watched for op in makers), len(makers)

    def rows(self, stack_of: Callable[[str], int] | None = None) -> Iterator[tuple[str, dict[str, list]]]:
        """Tables and their columns. ``stack_of`` tells the stack of a node where it is known."""
        graphs, ops = self.graphs, self.ops
        stacks = [stack_of(op.name) if stack_of else -1 for op in ops]
        numbers, runs, count = [graph.number for graph in graphs], self._first_runs, len(graphs)
        yield "graphs", {
            "graph": numbers, "outer": [-1] * count, "name": [", ".join((*run.fetches, *run.targets)) for run in runs],
            "function": ["Session.run"] * count, "stack": [-1] * count, "time": [run.began * 1000 for run in runs],
        }  # fmt: skip
        yield "signatures", {
            "graph": numbers, "fetches": [run.fetches for run in runs], "targets": [run.targets for run in runs],
            "feeds": [run.feeds for run in runs],
        }  # fmt: skip
        yield "functions", {
            "function": [f"Session.run of graph {number}" for number in numbers], "graph": numbers,
            "input_ops": [[op.number for op in graph.variables] for graph in graphs],
            "output_ops": [[op for op, _ in graph.results] for graph in graphs],
            "output_slots": [[slot for _, slot in graph.results] for graph in graphs],
            "python": [""] * count, "file": [""] * count, "line": [-1] * count, "instance": [-1] * count,
            "signature": ["{}"] * count,
        }  # fmt: skip
        yield "ops", {
            "op": [op.number for op in ops], "graph": [op.graph for op in ops], "name": [op.name for op in ops],
            "type": [op.type for op in ops], "device": [op.device for op in ops],
            "input_ops": [[source for source, _ in op.inputs] for op in ops],
            "input_slots": [[slot for _, slot in op.inputs] for op in ops],
            "output_dtypes": [[op.dtypes.get(slot, 0) for slot in range(max(op.dtypes, default=-1) + 1)] for op in ops],
            "attributes": [json.dumps(op.attributes) for op in ops], "stack": stacks,
            "phase": [int(op.phase) for op in ops], "forward": [op.forward for op in ops],
            "observed": [op.observed for op in ops],
            "kind": [kind_of(op.type).value for op in ops], "roles": [roles_of(op.type).words for op in ops],
            "framework": [NAME] * len(ops),
        }  # fmt: skip
        edges = [(op.number, source) for op in ops for source in op.controls]
        yield "controls", {"op": [op for op, _ in edges], "input_op": [source for _, source in edges]}
