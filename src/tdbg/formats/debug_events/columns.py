"""Reads records of executions and graph execution traces as numpy columns: compiled where it can be, else in Python."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tdbg import native
from tdbg.formats.debug_events import python_columns

EVENT = np.dtype(
    [
        ("time", "<f8"), ("offset", "<i8"), ("first_id", "<i8"), ("first_tensor", "<i8"),
        ("kind", "<i4"), ("op", "<i4"), ("graph", "<i4"), ("where", "<i4"),
        ("slot", "<i4"), ("mode", "<i4"), ("outputs_said", "<i4"),
        ("inputs", "<i4"), ("outputs", "<i4"), ("devices", "<i4"), ("tensors", "<i4"), ("unused", "<i4"),
    ]
)  # fmt: skip
TENSOR = np.dtype(
    [
        ("proto_offset", "<i8"), ("proto_length", "<i8"), ("content_offset", "<i8"), ("content_length", "<i8"),
        ("dtype", "<i4"), ("shape", "<i4"), ("columns", "<i4"), ("unused", "<i4"), ("column", "<f8", (11,)),
    ]
)  # fmt: skip
EXECUTION, TRACE = 9, 10  # kinds: the field's number in DebugEvent


class Columns(NamedTuple):
    """Events with their tensors and ids; ``op``, ``graph``, ``where`` and ``shape`` are numbers of ``strings``."""

    events: np.ndarray
    tensors: np.ndarray
    ids: np.ndarray
    strings: list[bytes]
    unreadable: int


def library() -> Any:
    return native.lib if native.lib is not None else python_columns


def read_columns(data: Any, spans: bytes) -> Columns:
    events, tensors, ids, strings, unreadable = library().read_debug_events(data, spans)
    return Columns(
        np.frombuffer(events, EVENT), np.frombuffer(tensors, TENSOR), np.frombuffer(ids, "<i8"), strings, unreadable
    )
