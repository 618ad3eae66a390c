"""Counts the iterations of loops, which TensorFlow's debugger does not tell."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from tdbg.formats.debug_events.recorded_graphs import Program


class Iterations:
    """The n-th event of one tensor in one call is of iteration n. In a loop inside a loop that would be wrong, so there
    it stays unknown."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._depth: dict[int, int] = {}
        self._seen: dict[tuple[int, int, int], int] = defaultdict(int)

    def of(self, ops: np.ndarray, slots: np.ndarray, execution: np.ndarray) -> np.ndarray:
        found = np.full(len(ops), -1, np.int32)
        distinct, which = np.unique(ops, return_inverse=True)
        in_loop = np.array([self._loops_around(self._program.ops[op].graph) == 1 for op in distinct.tolist()], bool)
        if not in_loop.any():
            return found
        for row in np.flatnonzero(in_loop[which.reshape(-1)] & (execution >= 0)).tolist():
            key = (int(execution[row]), int(ops[row]), int(slots[row]))
            found[row] = self._seen[key]
            self._seen[key] += 1
        return found

    def _loops_around(self, graph: int) -> int:
        if graph < 0:
            return 0
        if graph not in self._depth:
            self._depth[graph] = 0  # in case graphs are said to be inside each other
            name = self._program.graphs[graph].name
            is_loop = "while_body" in name or "while_cond" in name or "_body_" in name
            self._depth[graph] = is_loop + self._loops_around(self._program.outer(graph))
        return self._depth[graph]
