"""Records eager ops with their inputs and outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tdbg.model import DType, Flag, is_bad
from tdbg.native import reference
from tdbg.native.arrays import AsBuffer, array_of, dtype_of, id_of
from tdbg.native.fallback.calls import executions, push_call
from tdbg.native.fallback.makers import has_maker, made
from tdbg.native.fallback.observations import Seen, record
from tdbg.native.fallback.switches import now
from tdbg.native.record import EXECUTION

_FLOATING = sum(1 << dtype for dtype in DType if dtype.is_floating)


def eager(
    op: int, inputs: Sequence[Any], outputs: Sequence[Any], dtypes: int, input_dtypes: int, as_buffer: AsBuffer
) -> bool:
    """One eager op. ``dtypes`` are bit masks of the types worth a row. Says whether an output is bad, as far as it was
    looked at; conditions are not asked here."""
    found_bad = False
    execution = _eager_inputs(op, inputs, input_dtypes, as_buffer) if now.recording else -1
    for slot, output in enumerate(outputs):
        made(id_of(output), op)
        seen = _see(op, slot, execution, output, dtypes, as_buffer) if now.recording else None
        if seen is not None:
            seen.measure()
            record(seen, _arrays(inputs, as_buffer) if is_bad(seen.flags) else ())
            found_bad |= is_bad(seen.flags)
        if now.check and not found_bad:
            checked = _see(op, slot, execution, output, _FLOATING, as_buffer)
            found_bad = checked is not None and reference.has_bad(checked.array)
    return found_bad


def _eager_inputs(op: int, inputs: Sequence[Any], dtypes: int, as_buffer: AsBuffer) -> int:
    """Values that no op made (arrays and constants from Python) are described where they are first used."""
    execution = next(executions)
    for slot, given in enumerate(inputs):
        if id_of(given) >= 0 and not has_maker(id_of(given)):
            made(id_of(given), -1)
            seen = _see(op, slot, execution, given, dtypes, as_buffer)
            if seen is not None:
                seen.flags = int(Flag.INPUT)
                seen.measure()
                seen.keep_if_bad()
                seen.emit()
    push_call(EXECUTION, execution, op, -1, inputs)
    return execution


def call_tensors(op: int, execution: int, flags: int, tensors: Sequence[Any], dtypes: int, as_buffer: AsBuffer) -> None:
    """What went into or came out of a call that cannot be looked into."""
    for slot, given in enumerate(tensors):
        if flags & Flag.INPUT:  # what an op made has a row already
            if id_of(given) < 0 or has_maker(id_of(given)):
                continue
            made(id_of(given), -1)
        seen = _see(op, slot, execution, given, dtypes, as_buffer)
        if seen is not None:
            seen.flags = flags
            seen.measure()
            seen.emit()


def _see(op: int, slot: int, execution: int, tensor: Any, wanted: int, as_buffer: AsBuffer) -> Seen | None:
    dtype = dtype_of(tensor)
    array = array_of(tensor, dtype, as_buffer) if wanted >> dtype & 1 else None
    return None if array is None else Seen(op, slot, -1, execution, array, dtype, tensor=id_of(tensor))


def _arrays(tensors: Sequence[Any], as_buffer: AsBuffer) -> list[tuple[int, int, np.ndarray, int]]:
    found = []
    for slot, tensor in enumerate(tensors):
        dtype = dtype_of(tensor)
        array = array_of(tensor, dtype, as_buffer)
        if array is not None:
            found.append((slot, id_of(tensor), array, dtype))
    return found
