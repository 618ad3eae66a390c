"""Measures tensors, decides which are kept whole, and pushes a record for each."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tdbg.model import DType, Flag, Mode, Summary, is_bad
from tdbg.native import reference
from tdbg.native.arrays import typed
from tdbg.native.fallback.calls import execution_of
from tdbg.native.fallback.kept_values import values
from tdbg.native.fallback.shapes import shapes
from tdbg.native.fallback.switches import now
from tdbg.native.record import TENSOR, TENSOR_BODY


@dataclass(slots=True)
class Seen:
    """One tensor on its way into a record."""

    op: int
    slot: int
    graph: int
    execution: int
    array: np.ndarray
    dtype: int
    flags: int = 0
    tensor: int = -1
    iteration: int = -1
    keep: bool = False
    numbers: tuple = ()

    def measure(self) -> None:
        """Looks at the numbers as closely as the mode says."""
        found = Summary.unmeasured(self.array.size)
        if now.mode in (Mode.NUMERICS, Mode.FULL):
            found = reference.summarize(self.array)
            self.flags |= Flag.NUMBERS | (Flag.BAD if found.is_bad else 0)
        elif now.mode == Mode.HEALTH and reference.has_bad(self.array):
            self.flags |= Flag.BAD
        self.numbers = tuple(found.numbers().values())
        now.bad_events += is_bad(self.flags)

    def keep_if_bad(self) -> None:
        """Bad data is kept whole: which sample is it?"""
        self.keep = bool(is_bad(self.flags) and now.values_when_bad and values.allows(self.op))

    def emit(self) -> None:
        if now.mode == Mode.NONE or now.ring is None:
            return
        is_full = now.mode == Mode.FULL
        value = values.keep(self.array, self.dtype, is_full) if is_full or self.keep else 0
        shape = shapes.number_of(self.array.shape)
        body = TENSOR_BODY.pack(
            time.time_ns(), self.execution, self.tensor, self.op, now.step, self.iteration, threading.get_native_id(),
            shape, self.slot & 0xFFFF, self.dtype, TENSOR, self.flags, 0, self.graph, *self.numbers, value,
        )  # fmt: skip
        now.ring.push(body)


def record(seen: Seen, inputs: Sequence[tuple[int, int, np.ndarray, int]]) -> None:
    """An op's output, with its inputs (slot, tensor, array, dtype). If it is bad and they are not, it began here: keep
    it all."""
    if not is_bad(seen.flags):
        seen.emit()
        return
    is_origin = not any(reference.has_bad(array) for _, _, array, _ in inputs)
    if is_origin:
        seen.flags |= Flag.ORIGIN
    if is_origin or _made_nan(seen, inputs):
        seen.keep = now.values_when_bad and values.allows(seen.op)
    seen.emit()
    if seen.keep:
        for slot, tensor, array, dtype in inputs:
            evidence = replace(seen, slot=slot, tensor=tensor, array=array, dtype=dtype, flags=int(Flag.EVIDENCE))
            evidence.measure()
            evidence.emit()


def _made_nan(seen: Seen, inputs: Sequence[tuple[int, int, np.ndarray, int]]) -> bool:
    """A NaN out of infinities begins here as well, though the inputs are not good."""
    return _has_nan(seen.array) and not any(_has_nan(array) for _, _, array, _ in inputs)


def _has_nan(array: np.ndarray) -> bool:
    return reference.summarize(array).nan > 0


def tensor(op: int, slot: int, graph: int, flags: int, execution: int, array: Any, dtype: int) -> None:
    """One array of a graph that no op observes, such as a constant."""
    numbers = typed(np.asarray(array), dtype)
    if numbers is None:
        raise TypeError(f"{dtype} is no type of numbers")
    seen = Seen(op, slot, graph, execution, numbers, dtype, flags)
    seen.measure()
    seen.emit()


def graph_tensor(
    op: int, slot: int, graph: int, flags: int, detached: bool, array: np.ndarray,
    evidence: Sequence[np.ndarray] = (), iteration: int = -1,
) -> None:  # fmt: skip
    """One tensor of a graph that is running, from its observer, with the inputs of the op it observes."""
    dtype = reference.DTYPES.get(array.dtype.name)
    if not now.recording or op < now.first_op or dtype is None:
        return
    seen = Seen(op, slot, graph, -1 if detached else execution_of(graph), array, int(dtype), flags)
    seen.iteration = iteration
    seen.measure()
    if not evidence:
        if flags & Flag.INPUT:
            seen.keep_if_bad()
        seen.emit()
        return
    known = [(at, -1, one, reference.DTYPES.get(one.dtype.name)) for at, one in enumerate(evidence)]
    record(seen, [(at, tensor, one, int(code)) for at, tensor, one, code in known if code is not None])


def push_rows(op: int, rows: int) -> None:
    """Made-up events, for benchmarks and tests."""
    data = np.array([1, -2, 3, 0, 5, -6, 7, 8], np.float32)
    for row in range(rows):
        data[0] = row
        seen = Seen(op, 0, -1, -1, data, int(DType.FLOAT32))
        seen.measure()
        seen.emit()
