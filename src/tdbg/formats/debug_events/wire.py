"""Reads and writes protocol buffers as numbered fields: the few kinds of field that DebugEvents have."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5
Buffer = bytes | memoryview

_DOUBLE = struct.Struct("<d")


class WireError(ValueError):
    """These bytes are no protocol buffer."""


def varint(data: Buffer, at: int) -> tuple[int, int]:
    """A number of up to 64 bits, and where it ends."""
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise WireError("a number is cut off or too long")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value & 0xFFFFFFFFFFFFFFFF, at
        shift += 7


def fields(data: Buffer) -> Iterator[tuple[int, int, int, int]]:
    """(number, kind, value, end): a varint's value, or where the field's bytes begin, and where they end."""
    at, size = 0, len(data)
    while at < size:
        key, at = varint(data, at)
        number, kind = key >> 3 & 0xFFFFFFFF, key & 7
        if kind == VARINT:
            value, at = varint(data, at)
            yield number, kind, value, at
            continue
        if kind == BYTES:
            length, at = varint(data, at)
        elif kind == FIXED64:
            length = 8
        elif kind == FIXED32:
            length = 4
        else:
            raise WireError(f"there is no kind {kind} of field")
        if length > size - at:
            raise WireError("a field is cut off")
        yield number, kind, at, at + length
        at += length


def signed(value: int) -> int:
    """A varint as int32 or int64: negative numbers are written as 64 bits."""
    return value - (1 << 64) if value >> 63 else value


def int32(value: int) -> int:
    """What a reader of an int32 field keeps of a varint."""
    value &= 0xFFFFFFFF
    return value - (1 << 32) if value >> 31 else value


def double_at(data: Buffer, at: int) -> float:
    return _DOUBLE.unpack_from(data, at)[0]


def packed_varints(data: Buffer, begin: int, end: int) -> list[int]:
    found = []
    part = data[begin:end]
    at = 0
    while at < len(part):
        value, at = varint(part, at)
        found.append(value)
    return found


# ---- writing


def put_varint(value: int) -> bytes:
    value &= 0xFFFFFFFFFFFFFFFF
    if value < 0x80:
        return bytes((value,))
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def put_int(number: int, value: int) -> bytes:
    """Nothing for 0, as protocol buffers have it."""
    return put_varint(number << 3) + put_varint(value) if value else b""


def put_ints(number: int, values: Iterable[int]) -> bytes:
    """A packed list of numbers."""
    body = b"".join(map(put_varint, values))
    return put_message(number, body) if body else b""


def put_double(number: int, value: float) -> bytes:
    return put_varint(number << 3 | FIXED64) + _DOUBLE.pack(value)


def put_message(number: int, body: bytes) -> bytes:
    """A message or bytes, also when empty: an empty element of a list is an element."""
    return put_varint(number << 3 | BYTES) + put_varint(len(body)) + body


def put_text(number: int, text: str) -> bytes:
    return put_message(number, text.encode("utf-8", "replace")) if text else b""


def put_texts(number: int, texts: Iterable[str]) -> bytes:
    return b"".join(put_message(number, text.encode("utf-8", "replace")) for text in texts)
