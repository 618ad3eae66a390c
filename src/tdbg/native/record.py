"""Defines the fixed-size record of one event, and the file that keeps the last of them; native/ring/ring.h has the same
in C.

A ring file is a header, then ``capacity`` records. Event number N lies in slot N modulo ``capacity``, and its record is
whole when ``ready`` is N + 1; ``ready`` is 0 while it is being written.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from tdbg.model import NAMES, NUMBERS, Number

# Before and behind the numbers.
_HEAD = [
    ("ready", "<u8"), ("time", "<i8"), ("execution", "<i8"), ("tensor", "<i8"),
    ("op", "<i4"), ("step", "<i4"), ("iteration", "<i4"), ("thread", "<i4"),
    ("shape", "<i4"), ("slot", "<u2"), ("dtype", "u1"), ("kind", "u1"),
    ("flags", "<u2"), ("count", "<u2"), ("graph", "<i4"),
]  # fmt: skip
_TAIL = [("value", "<i8")]

TENSOR, EXECUTION, MORE, END, FAILED = range(5)  # kinds


def record_with(numbers: Sequence[Number]) -> np.dtype:
    """The record of a tdbg that knew these numbers of a tensor."""
    return np.dtype([*_HEAD, *((one.name, "<i8" if one.is_count else "<f8") for one in numbers), *_TAIL])


def record_of_bytes(size: int) -> np.dtype | None:
    """The record of this size, for numbers are added at the end; None when no tdbg so far has written such ones."""
    known = range(FIRST_NUMBERS, len(NUMBERS) + 1)
    return next((made for count in known if (made := record_with(NUMBERS[:count])).itemsize == size), None)


FIRST_NUMBERS = 11  # so many has the record of the first tdbg
RECORD = record_with(NUMBERS)

# Records of calls (every kind but TENSOR) hold ids of tensors where the others hold numbers.
INLINE_IDS = len(NUMBERS)
IDS_OFFSET: int = RECORD.fields[NAMES[0]][1]  # type: ignore[index]

READY = struct.Struct("<Q")
# What follows ``ready``, with numbers and with ids.
TENSOR_BODY = struct.Struct(f"<qqqiiiiiHBBHHi{''.join('q' if one.is_count else 'd' for one in NUMBERS)}q")
CALL_BODY = struct.Struct(f"<qqqiiiiiHBBHHi{INLINE_IDS}qq")

RING_FILE = "ring.bin"
RING_HEADER = struct.Struct("<8sQQQ")  # magic, version, bytes of a record, capacity
RING_MAGIC, RING_VERSION = b"TDBGRING", 1
RING_HEADER_BYTES = 64
