"""The fixed-size record of one event, and the file that keeps the last of them; native/ring/ring.h has the same in C.

A ring file is a header, then ``capacity`` records. Event number N lies in slot N modulo ``capacity``, and its record is
whole when ``ready`` is N + 1; ``ready`` is 0 while it is being written.
"""

from __future__ import annotations

import struct

import numpy as np

TENSOR, EXECUTION, MORE, END, FAILED = range(5)  # kinds

RECORD = np.dtype(
    [
        ("ready", "<u8"), ("time", "<i8"), ("execution", "<i8"), ("tensor", "<i8"),
        ("op", "<i4"), ("step", "<i4"), ("iteration", "<i4"), ("thread", "<i4"),
        ("shape", "<i4"), ("slot", "<u2"), ("dtype", "u1"), ("kind", "u1"),
        ("flags", "<u2"), ("count", "<u2"), ("graph", "<i4"),
        ("elements", "<i8"), ("negative", "<i8"), ("zero", "<i8"), ("positive", "<i8"),
        ("neg_inf", "<i8"), ("pos_inf", "<i8"), ("nan", "<i8"),
        ("min", "<f8"), ("max", "<f8"), ("mean", "<f8"), ("std", "<f8"),
        ("value", "<i8"),
    ]
)  # fmt: skip

# Records of calls (every kind but TENSOR) hold ids of tensors where the others hold numbers.
INLINE_IDS = 11
IDS_OFFSET: int = RECORD.fields["elements"][1]  # type: ignore[index]

READY = struct.Struct("<Q")
# What follows ``ready``, with numbers and with ids.
TENSOR_BODY = struct.Struct("<qqqiiiiiHBBHHi7q4dq")
CALL_BODY = struct.Struct(f"<qqqiiiiiHBBHHi{INLINE_IDS}qq")

RING_FILE = "ring.bin"
RING_HEADER = struct.Struct("<8sQQQ")  # magic, version, bytes of a record, capacity
RING_MAGIC, RING_VERSION = b"TDBGRING", 1
RING_HEADER_BYTES = 64
