"""Reads a TensorProto's element type, shape and bytes; writes summaries or full values as one."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tdbg.formats.debug_events.wire import (
    BYTES,
    FIXED32,
    FIXED64,
    VARINT,
    Buffer,
    fields,
    packed_varints,
    put_int,
    put_message,
    signed,
)
from tdbg.model import DType
from tdbg.native.arrays import FROM_TENSORFLOW

# The summary op writes -1 or another number for a type that it does not know.
DTYPES = FROM_TENSORFLOW
NUMBERS = {dtype: number for number, dtype in DTYPES.items()}
_DOUBLE = 2

ELEMENT_BYTES = {
    DType.FLOAT64: 8, DType.COMPLEX64: 8, DType.INT64: 8, DType.UINT64: 8, DType.COMPLEX128: 16, DType.FLOAT32: 4,
    DType.INT32: 4, DType.UINT32: 4, DType.FLOAT16: 2, DType.BFLOAT16: 2, DType.INT16: 2, DType.UINT16: 2,
}  # fmt: skip


class FullTensor(NamedTuple):
    dtype: DType
    dims: tuple[int, ...]
    data: bytes | None  # None for what is no array of numbers (strings, resources), or does not fit its shape


# Fields that hold single elements: half_val (float16 and bfloat16 as bits), float_val, double_val, int_val,
# scomplex_val, int64_val, bool_val, dcomplex_val, uint32_val, uint64_val, float8_val.
_AS_VARINTS = frozenset({13, 7, 10, 11, 16, 17})
_AS_FIXED = frozenset({5, 6, 9, 12})


def parse_dims(data: Buffer) -> tuple[int, ...]:
    """A TensorShapeProto."""
    dims = []
    for number, kind, at, stop in fields(data):
        if number == 2 and kind == BYTES:
            inner = data[at:stop]
            dims.append(next((signed(v) for n, k, v, _ in fields(inner) if n == 1 and k == VARINT), 0))
    return tuple(dims)


def parse_tensor(data: Buffer) -> FullTensor:
    dims: tuple[int, ...] = ()
    dtype, content, elements = DType.UNKNOWN, None, b""
    numbers: list[int] = []
    for number, kind, at, stop in fields(data):
        if number == 1 and kind == VARINT:
            dtype = DTYPES.get(at, DType.UNKNOWN)
        elif number == 2 and kind == BYTES:
            dims = parse_dims(data[at:stop])
        elif number == 4 and kind == BYTES:
            content = bytes(data[at:stop])
        elif number in _AS_VARINTS and kind == VARINT:
            numbers.append(at)
        elif number in _AS_VARINTS and kind == BYTES:
            numbers += packed_varints(data, at, stop)
        elif (number in _AS_FIXED and kind in (BYTES, FIXED32, FIXED64)) or (number == 18 and kind == BYTES):
            elements += bytes(data[at:stop])
    if not dtype.is_number:
        return FullTensor(dtype, dims, None)
    width = ELEMENT_BYTES.get(dtype, 1)
    count = int(np.prod(dims, dtype=np.int64))
    if numbers:
        mask = (1 << 8 * width) - 1
        elements = b"".join((number & mask).to_bytes(width, "little") for number in numbers)
    if content:
        elements = content
    elif width <= len(elements) < count * width:  # the last element stands for the rest
        elements += elements[-width:] * (count - len(elements) // width)
    elif not elements:
        elements = bytes(count * width)
    return FullTensor(dtype, dims, elements if len(elements) == count * width else None)


# ---- writing


def put_dims(dims: Sequence[int]) -> bytes:
    return b"".join(put_message(2, put_int(1, dim)) for dim in dims)


def put_full(dtype: DType, dims: Sequence[int], data: bytes) -> bytes:
    return put_int(1, NUMBERS[dtype]) + put_message(2, put_dims(dims)) + put_message(4, data)


_heads: dict[int, bytes] = {}


def put_summary(columns: Sequence[float]) -> bytes:
    """A list of float64, which is what every mode but FULL_TENSOR writes."""
    head = _heads.get(len(columns))
    if head is None:
        head = put_int(1, _DOUBLE) + put_message(2, put_dims([len(columns)]))
        _heads[len(columns)] = head
    return head + put_message(4, struct.pack(f"<{len(columns)}d", *columns))


NO_TENSOR = put_int(1, NUMBERS[DType.FLOAT32]) + put_message(2, put_dims([0]))  # as TensorFlow writes in this mode
