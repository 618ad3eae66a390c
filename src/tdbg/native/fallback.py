"""The functions of the compiled extension in Python and numpy: slower, for machines where it cannot be built.

native/module.c has the same functions under the same names, and says what each one takes; what they record is the same
too, but for one thing: ``graph_tensor`` stands for the TensorFlow ops of native/tensorflow_op.c.
"""

from __future__ import annotations

import itertools
import os
import sys
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import CodeType
from typing import Any

import numpy as np

from tdbg.model import DType, Flag, Mode
from tdbg.native import reference
from tdbg.native.python_arrays import AsBuffer, array_of, dtype_of, typed
from tdbg.native.python_ring import BoundedRing, FileRing, Ring
from tdbg.native.python_stacks import Stacks
from tdbg.native.python_values import KeptValues, Value
from tdbg.native.record import CALL_BODY, END, EXECUTION, FAILED, INLINE_IDS, MORE, RECORD, TENSOR, TENSOR_BODY

IS_NATIVE = 0
RECORD_BYTES = RECORD.itemsize

_FLOATING = sum(1 << dtype for dtype in DType if dtype.is_floating)
_REMEMBERED = 1 << 18  # tensors whose makers are known: the latest ones


@dataclass(slots=True)
class _Switches:
    mode: int = Mode.NUMERICS
    recording: bool = False
    first_op: int = 0
    step: int = 0
    values_when_bad: bool = True
    check: bool = False
    bad_events: int = 0


_now = _Switches()
_ring: Ring | None = None
_values = KeptValues()
_stacks = Stacks()


# ---- summaries


def summarize(data: Any, dtype: int) -> tuple | None:
    """The fields of model.Summary of a buffer; None when its type is not known."""
    array = typed(np.frombuffer(data, np.uint8), dtype)
    if array is None:
        return None
    found = reference.summarize(array)
    return tuple(getattr(found, name) for name in found.__slots__)


def has_bad(data: Any, dtype: int) -> bool:
    array = typed(np.frombuffer(data, np.uint8), dtype)
    return array is not None and reference.has_bad(array)


def kernel_name() -> str:
    return "numpy"


def use_kernel(name: str) -> bool:
    return name == "numpy"


# ---- ring


def ring_open(capacity: int, file: str | None, block: bool) -> None:
    global _ring
    _ring = FileRing(capacity, file) if file is not None else BoundedRing(capacity, bool(block))
    _values.dropped = 0
    _now.bad_events = 0


def ring_drain(most: int) -> bytes:
    return _ring.drain(most) if _ring is not None else b""


def counters() -> tuple[int, int, int, int, int]:
    """Events produced and dropped, values dropped, times a producer waited, events pending."""
    if _ring is None:
        return 0, 0, 0, 0, 0
    return _ring.produced, _ring.dropped, _values.dropped, _ring.waits, _ring.pending


def bad_events() -> int:
    """Tensors with NaN or infinity since the ring was opened: a cheap sign, for whoever watches while it runs."""
    return _now.bad_events


def after_fork() -> None:
    """In a child: forgets everything that belonged to the parent."""
    if _ring is not None:
        _ring.after_fork()
    _values.forget()
    _shapes.after_fork()
    _open_calls.clear()
    _now.recording = False


# ---- switches


def set_mode(mode: int, values_when_bad: int, queue_bytes: int, bad_bytes: int, kept_per_op: int) -> None:
    _now.mode, _now.values_when_bad = mode, bool(values_when_bad)
    _values.set_limits(queue_bytes, bad_bytes, kept_per_op)


def set_recording(on: bool) -> None:
    _now.recording = bool(on)


def set_check(on: bool, explain: Any) -> None:
    """Observers and eager ops that are to stop the program ask and explain by themselves here."""
    _now.check = bool(on)


def remember_input(op: int, maker: int, slot: int, magnitude: float, rule: int) -> None:
    """Observers in Python take all inputs along, so there is nothing to note."""


def set_breaks(met: Any, tests: Sequence[tuple[int, int, bytes]]) -> None:
    """Observers and eager ops that may hold the program ask by themselves here."""


def add_break(test: tuple[int, int, bytes]) -> None:
    """The same."""


def set_first_op(op: int) -> None:
    """Observers of ops before it belong to an earlier recording."""
    _now.first_op = op


def set_step(step: int) -> None:
    _now.step = step


# ---- shapes, values, stacks


class _Shapes:
    """Dims in, numbers out."""

    def __init__(self) -> None:
        self._all: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self.after_fork()

    def after_fork(self) -> None:
        self._lock = threading.RLock()

    def number_of(self, dims: tuple[int, ...]) -> int:
        found = self._numbers.get(dims)
        if found is not None:
            return found
        with self._lock:
            if dims not in self._numbers:
                self._all.append(dims)
                self._numbers[dims] = self._all.index(dims)
            return self._numbers[dims]

    def since(self, first: int) -> list[tuple[int, ...]]:
        return self._all[first:]


_shapes = _Shapes()


def shapes_since(first: int) -> list[tuple[int, ...]]:
    return _shapes.since(first)


def take_value() -> Value | None:
    return _values.take()


def stack_here(skip: int) -> int:
    """The caller's stack without its ``skip`` innermost frames."""
    try:
        return _stacks.number_of(sys._getframe(1 + skip))
    except ValueError:  # fewer frames than that
        return -1


def stack_count() -> int:
    return len(_stacks)


def stack_get(stack: int) -> tuple[int, CodeType, int]:
    return _stacks.get(stack)


# ---- who made which tensor

_makers: dict[int, tuple[int, int]] = {}  # tensor modulo _REMEMBERED -> tensor, op


def _remember(tensor: int, op: int) -> None:
    if tensor >= 0:
        _makers[tensor % _REMEMBERED] = (tensor, op)


def forget_makers() -> None:
    """Ops are numbered anew."""
    _makers.clear()


def maker_of(tensor: int) -> int:
    """The op that made an eager tensor; -1 when it is not known."""
    found = _makers.get(tensor % _REMEMBERED)
    return found[1] if found is not None and found[0] == tensor else -1


def _is_remembered(tensor: int) -> bool:
    return _makers.get(tensor % _REMEMBERED, (-1, -1))[0] == tensor


def _id(tensor: Any) -> int:
    return getattr(tensor, "_id", -1)


# ---- one tensor


@dataclass(slots=True)
class _Seen:
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
        self.numbers = (self.array.size, 0, 0, 0, 0, 0, 0, 0.0, 0.0, 0.0, 0.0)
        if _now.mode in (Mode.NUMERICS, Mode.FULL):
            found = reference.summarize(self.array)
            self.numbers = tuple(getattr(found, name) for name in found.__slots__)
            self.flags |= Flag.NUMBERS | (Flag.BAD if found.is_bad else 0)
        elif _now.mode == Mode.HEALTH and reference.has_bad(self.array):
            self.flags |= Flag.BAD
        _now.bad_events += bool(self.flags & Flag.BAD)

    def keep_if_bad(self) -> None:
        """Bad data is kept whole: which sample is it?"""
        self.keep = bool(self.flags & Flag.BAD and _now.values_when_bad and _values.allows(self.op))

    def emit(self) -> None:
        if _now.mode == Mode.NONE or _ring is None:
            return
        is_full = _now.mode == Mode.FULL
        value = _values.keep(self.array, self.dtype, is_full) if is_full or self.keep else 0
        shape = _shapes.number_of(self.array.shape)
        body = TENSOR_BODY.pack(
            time.time_ns(), self.execution, self.tensor, self.op, _now.step, self.iteration, threading.get_native_id(),
            shape, self.slot & 0xFFFF, self.dtype, TENSOR, self.flags, 0, self.graph, *self.numbers, value,
        )  # fmt: skip
        _ring.push(body)


def _record(seen: _Seen, inputs: Sequence[tuple[int, int, np.ndarray, int]]) -> None:
    """An op's output, with its inputs (slot, tensor, array, dtype). If it is bad and they are not, it began here: keep
    it all."""
    if not seen.flags & Flag.BAD:
        seen.emit()
        return
    is_origin = not any(reference.has_bad(array) for _, _, array, _ in inputs)
    if is_origin:
        seen.flags |= Flag.ORIGIN
    if is_origin or _made_nan(seen, inputs):
        seen.keep = _now.values_when_bad and _values.allows(seen.op)
    seen.emit()
    if seen.keep:
        for slot, tensor, array, dtype in inputs:
            evidence = replace(seen, slot=slot, tensor=tensor, array=array, dtype=dtype, flags=int(Flag.EVIDENCE))
            evidence.measure()
            evidence.emit()


def _made_nan(seen: _Seen, inputs: Sequence[tuple[int, int, np.ndarray, int]]) -> bool:
    """A NaN out of infinities begins here as well, though the inputs are not good."""
    return _has_nan(seen.array) and not any(_has_nan(array) for _, _, array, _ in inputs)


def _has_nan(array: np.ndarray) -> bool:
    return reference.summarize(array).nan > 0


def tensor(op: int, slot: int, graph: int, flags: int, execution: int, array: Any, dtype: int) -> None:
    """One array of a graph that no op observes, such as a constant."""
    numbers = typed(np.asarray(array), dtype)
    if numbers is None:
        raise TypeError(f"{dtype} is no type of numbers")
    seen = _Seen(op, slot, graph, execution, numbers, dtype, flags)
    seen.measure()
    seen.emit()


def graph_tensor(
    op: int, slot: int, graph: int, flags: int, detached: bool, array: np.ndarray,
    evidence: Sequence[np.ndarray] = (), iteration: int = -1,
) -> None:  # fmt: skip
    """One tensor of a graph that is running, from its observer, with the inputs of the op it observes."""
    dtype = reference.DTYPES.get(array.dtype.name)
    if not _now.recording or op < _now.first_op or dtype is None:
        return
    seen = _Seen(op, slot, graph, -1 if detached else _execution_of(graph), array, int(dtype), flags)
    seen.iteration = iteration
    seen.measure()
    if not evidence:
        if flags & Flag.INPUT:
            seen.keep_if_bad()
        seen.emit()
        return
    known = [(at, -1, one, reference.DTYPES.get(one.dtype.name)) for at, one in enumerate(evidence)]
    _record(seen, [(at, tensor, one, int(code)) for at, tensor, one, code in known if code is not None])


# ---- executions

_next_execution = itertools.count()
_open_calls: dict[int, int] = {}  # execution -> graph, in the order they began


def _execution_of(graph: int) -> int:
    """The call that an event inside a graph belongs to: the latest of that graph, else the latest of all."""
    calls = list(_open_calls.items())[::-1]
    return next((execution for execution, called in calls if called == graph), calls[0][0] if calls else -1)


def _push_call(kind: int, execution: int, op: int, graph: int, tensors: Sequence[Any]) -> None:
    """A call's beginning with its inputs' ids, or its end with its outputs'; long lists go on in further records."""
    if _ring is None:
        return
    ids = [_id(tensor) for tensor in tensors]
    for at in range(0, max(len(ids), 1), INLINE_IDS):
        part = ids[at : at + INLINE_IDS]
        body = CALL_BODY.pack(
            time.time_ns(), execution, -1, op, _now.step, 0, threading.get_native_id(), 0, len(ids) & 0xFFFF, 0,
            MORE if at else kind, 0, len(part), graph, *part, *[0] * (INLINE_IDS - len(part)), 0,
        )  # fmt: skip
        _ring.push(body)


def call_begin(op: int, graph: int, inputs: Sequence[Any], begun: list[int]) -> int:
    """A call of a function begins; returns its execution, and puts it into ``begun``: an exception of a signal handler
    may strike before the caller has what is returned."""
    execution = next(_next_execution)
    begun.append(execution)
    _open_calls[execution] = graph
    _push_call(EXECUTION, execution, op, graph, inputs)
    return execution


def call_lost(execution: int) -> None:
    """An exception ended it, before or while its end was told."""
    if _open_calls.pop(execution, None) is not None:
        _push_call(FAILED, execution, -1, -1, ())


def call_end(execution: int, op: int, outputs: Sequence[Any] | None) -> None:
    """It ends; ``outputs`` is None when it failed."""
    _open_calls.pop(execution, None)
    if outputs is None:
        _push_call(FAILED, execution, op, -1, ())
        return
    for output in outputs:
        _remember(_id(output), op)
    _push_call(END, execution, op, -1, outputs)


def eager(
    op: int, inputs: Sequence[Any], outputs: Sequence[Any], dtypes: int, input_dtypes: int, as_buffer: AsBuffer
) -> bool:
    """One eager op. ``dtypes`` are bit masks of the types worth a row. Says whether an output is bad, as far as it was
    looked at; conditions are not asked here."""
    is_bad = False
    execution = _eager_inputs(op, inputs, input_dtypes, as_buffer) if _now.recording else -1
    for slot, made in enumerate(outputs):
        _remember(_id(made), op)
        seen = _see(op, slot, execution, made, dtypes, as_buffer) if _now.recording else None
        if seen is not None:
            seen.measure()
            _record(seen, _arrays(inputs, as_buffer) if seen.flags & Flag.BAD else ())
            is_bad |= bool(seen.flags & Flag.BAD)
        if _now.check and not is_bad:
            checked = _see(op, slot, execution, made, _FLOATING, as_buffer)
            is_bad = checked is not None and reference.has_bad(checked.array)
    return is_bad


def _eager_inputs(op: int, inputs: Sequence[Any], dtypes: int, as_buffer: AsBuffer) -> int:
    """Values that no op made (arrays and constants from Python) are described where they are first used."""
    execution = next(_next_execution)
    for slot, given in enumerate(inputs):
        if _id(given) >= 0 and not _is_remembered(_id(given)):
            _remember(_id(given), -1)
            seen = _see(op, slot, execution, given, dtypes, as_buffer)
            if seen is not None:
                seen.flags = int(Flag.INPUT)
                seen.measure()
                seen.keep_if_bad()
                seen.emit()
    _push_call(EXECUTION, execution, op, -1, inputs)
    return execution


def call_tensors(op: int, execution: int, flags: int, tensors: Sequence[Any], dtypes: int, as_buffer: AsBuffer) -> None:
    """What went into or came out of a call that cannot be looked into."""
    for slot, given in enumerate(tensors):
        if flags & Flag.INPUT:  # what an op made has a row already
            if _id(given) < 0 or _is_remembered(_id(given)):
                continue
            _remember(_id(given), -1)
        seen = _see(op, slot, execution, given, dtypes, as_buffer)
        if seen is not None:
            seen.flags = flags
            seen.measure()
            seen.emit()


def _see(op: int, slot: int, execution: int, tensor: Any, wanted: int, as_buffer: AsBuffer) -> _Seen | None:
    dtype = dtype_of(tensor)
    array = array_of(tensor, dtype, as_buffer) if wanted >> dtype & 1 else None
    return None if array is None else _Seen(op, slot, -1, execution, array, dtype, tensor=_id(tensor))


def _arrays(tensors: Sequence[Any], as_buffer: AsBuffer) -> list[tuple[int, int, np.ndarray, int]]:
    found = []
    for slot, tensor in enumerate(tensors):
        dtype = dtype_of(tensor)
        array = array_of(tensor, dtype, as_buffer)
        if array is not None:
            found.append((slot, _id(tensor), array, dtype))
    return found


# ---- TensorFlow


def register_tensorflow(library: str) -> str | None:
    """Says why there are no native TensorFlow ops."""
    return f"tdbg runs without its compiled extension, which holds the ops for {os.path.basename(library)}"


# ---- Sessions: without the native op they are looked at from outside


def set_session(resolve: Any) -> None:
    """Nobody asks."""


def session_end(execution: int) -> None:
    """Nothing was held."""


def not_held() -> int:
    return 0


def not_dumped() -> tuple[int, int]:
    """TensorFlow itself dumps."""
    return 0, 0


# ---- made-up events, for benchmarks and tests


def push_rows(op: int, rows: int) -> None:
    data = np.array([1, -2, 3, 0, 5, -6, 7, 8], np.float32)
    for row in range(rows):
        data[0] = row
        seen = _Seen(op, 0, -1, -1, data, int(DType.FLOAT32))
        seen.measure()
        seen.emit()
