"""Finds which ops an eager op got its values from, and which ops were given its own.

No graph tells what an eager op reads, but each time it runs the numbers of the tensors that went in are kept; rows tell
which op made which tensor. One run of the op stands for all.
"""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from tdbg.model import Flag
from tdbg.query.scene.ops import Ops
from tdbg.query.trace.trace import Trace
from tdbg.store.row_pages import Pages


class Made(NamedTuple):
    """An op's output, or (``is_given``) what was given to it from outside."""

    op: int
    slot: int
    is_given: bool


class EagerEdges:
    """The data that flowed among the eager ops of one process."""

    def __init__(self, trace: Trace, process: int, pages: Pages, ops: Ops) -> None:
        self._trace, self._process, self._pages, self._ops = trace, process, pages, ops

    @cached_property
    def _executions(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The op of each execution, the number of its first input among all inputs, and all inputs."""
        rows = self._trace.table("executions", ["op", "inputs"], self._process)
        inputs = pa.concat_arrays(rows["inputs"].chunks) if rows.num_rows else pa.array([], pa.list_(pa.int64()))
        firsts = inputs.offsets.to_numpy()
        return rows["op"].to_numpy(), firsts - firsts[0], inputs.flatten().to_numpy()

    @cached_property
    def _first_runs(self) -> dict[int, int]:
        """By op: where its first execution stands among all."""
        numbers, first = np.unique(self._executions[0], return_index=True)
        return dict(zip(numbers.tolist(), first.tolist(), strict=True))

    @cached_property
    def _makers(self) -> tuple[np.ndarray, np.ndarray]:
        """Numbers of tensors, sorted, and the position of the row of each: where it was made, or first came in."""
        is_eager = np.zeros(self._ops.size, bool)
        is_eager[self._ops.numbers] = self._ops.graphs < 0
        positions = np.flatnonzero(is_eager[self._ops.known(self._pages.column("op"))])
        tensors, flags = (self._pages.cells(name, positions) for name in ("tensor", "flags"))
        is_row = (tensors >= 0) & ((flags & int(Flag.EVIDENCE)) == 0)
        positions, tensors, came_in = positions[is_row], tensors[is_row], (flags[is_row] & int(Flag.INPUT)) != 0
        order = np.lexsort((positions, came_in, tensors))
        numbers, first = np.unique(tensors[order], return_index=True)
        return numbers, positions[order][first]

    def inputs(self, op: int) -> list[Made]:
        """Finds what an op was given, as far as it is known, in order."""
        run = self._first_runs.get(op)
        if run is None:
            return []
        _, firsts, inputs = self._executions
        found = [self._maker(tensor) for tensor in inputs[firsts[run] : firsts[run + 1]].tolist()]
        return [made for made in found if made is not None and not (made.op == op and not made.is_given)]

    def _maker(self, tensor: int) -> Made | None:
        numbers, positions = self._makers
        at = int(np.searchsorted(numbers, tensor))
        if at == len(numbers) or numbers[at] != tensor:
            return None
        here = positions[at : at + 1]
        op, slot, flags = (int(self._pages.cells(name, here)[0]) for name in ("op", "slot", "flags"))
        return Made(op, slot, bool(flags & Flag.INPUT))

    def recipients(self, op: int) -> list[tuple[int, int]]:
        """Finds (the op that reads, the slot of this op that it reads), each once, in the order in which they first
        ran."""
        numbers, positions = self._makers
        is_own = self._pages.cells("op", positions) == op
        is_own &= (self._pages.cells("flags", positions) & int(Flag.INPUT)) == 0
        own, slots = numbers[is_own], self._pages.cells("slot", positions[is_own])
        ops, firsts, inputs = self._executions
        read = np.flatnonzero(np.isin(inputs, own))
        readers = ops[np.searchsorted(firsts, read, "right") - 1]
        read_slots = slots[np.searchsorted(own, inputs[read])]
        pairs = zip(readers.tolist(), read_slots.tolist(), strict=True)
        return list(dict.fromkeys(pair for pair in pairs if pair[0] != op))
