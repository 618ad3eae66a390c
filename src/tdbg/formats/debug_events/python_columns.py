"""Reads TFRecord files and the hot messages of DebugEvents as columns, as native/debug_events/columns.c does."""

from __future__ import annotations

import struct
from typing import NamedTuple

from tdbg.formats.debug_events.wire import (
    BYTES,
    FIXED64,
    VARINT,
    Buffer,
    WireError,
    double_at,
    fields,
    int32,
    packed_varints,
    signed,
)

HEADER, FOOTER = 12, 4
EVENT = struct.Struct("<dqqq12i")
TENSOR = struct.Struct("<qqqqiiii11d")
COLUMNS = 11
_SPAN = struct.Struct("<qq")
_DOUBLE_TYPE = 2


# ---- CRC-32C


def _make_table() -> list[int]:
    table = []
    for number in range(256):
        for _ in range(8):
            number = number >> 1 ^ 0x82F63B78 if number & 1 else number >> 1
        table.append(number)
    return table


_TABLE = _make_table()


def masked_crc32c(data: Buffer) -> int:
    """The checksum of a TFRecord."""
    crc = 0xFFFFFFFF
    for byte in bytes(data):
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


# ---- frames


def _length(data: Buffer, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _header_is_right(data: Buffer, at: int) -> bool:
    return masked_crc32c(data[at : at + 8]) == int.from_bytes(data[at + 8 : at + HEADER], "little")


def _fits(data: Buffer, at: int) -> bool:
    room = len(data) - at
    return room >= HEADER + FOOTER and _length(data, at) <= room - HEADER - FOOTER


def _data_is_right(data: Buffer, at: int) -> bool:
    begin = at + HEADER
    end = begin + _length(data, at)
    return masked_crc32c(data[begin:end]) == int.from_bytes(data[end : end + FOOTER], "little")


def read_records(data: Buffer, begin: int, most: int) -> tuple[bytes, int, int, int, int]:
    """(spans of whole records, where to go on, lost records, lost bytes, bytes at the end that are no whole record)."""
    data = memoryview(data)
    spans: list[bytes] = []
    at, size, lost_records, lost_bytes, tail = max(begin, 0), len(data), 0, 0, 0
    while at < size and len(spans) < most:
        if size - at >= HEADER and _header_is_right(data, at):
            if not _fits(data, at):
                break
            whole = HEADER + _length(data, at) + FOOTER
            if _data_is_right(data, at):
                spans.append(_SPAN.pack(at + HEADER, whole - HEADER - FOOTER))
            else:
                lost_records, lost_bytes = lost_records + 1, lost_bytes + whole
            at += whole
            continue
        following = at + 1
        while size - following >= HEADER + FOOTER and not (
            _header_is_right(data, following) and _fits(data, following) and _data_is_right(data, following)
        ):
            following += 1
        if size - following < HEADER + FOOTER:
            break
        lost_bytes += following - at
        at = following
    if at < size and len(spans) < most:
        at, tail = size, size - at
    return b"".join(spans), at, lost_records, lost_bytes, tail


# ---- messages


class _Event(NamedTuple):
    kind: int = 0
    op: int = -1
    graph: int = -1
    where: int = -1
    slot: int = 0
    mode: int = 0
    outputs_said: int = 0
    inputs: int = 0
    outputs: int = 0
    devices: int = 0
    tensors: int = 0
    unused: int = 0


class _Reader:
    def __init__(self, data: memoryview) -> None:
        self._data = data
        self._numbers: dict[bytes, int] = {}
        self.events: list[bytes] = []
        self.tensors: list[bytes] = []
        self.ids: list[int] = []

    @property
    def strings(self) -> list[bytes]:
        return list(self._numbers)

    def _intern(self, text: Buffer) -> int:
        return self._numbers.setdefault(bytes(text), len(self._numbers))

    def read(self, begin: int, end: int) -> None:
        if begin < 0 or end < begin or end > len(self._data):
            raise WireError("the record lies outside the file")
        data = self._data[begin:end]
        time, hot = 0.0, None
        for number, kind, at, stop in fields(data):
            if number == 1 and kind == FIXED64:
                time = double_at(data, at)
            elif number in (9, 10) and kind == BYTES:
                hot = number, begin + at, begin + stop
        if hot is None:
            raise WireError("the event is of another kind")
        first_id, first_tensor = len(self.ids), len(self.tensors)
        event = (self._execution if hot[0] == 9 else self._trace)(hot[1], hot[2])
        self.events.append(EVENT.pack(time, begin, first_id, first_tensor, *event))

    def _trace(self, begin: int, end: int) -> _Event:
        data, event, tensors = self._data[begin:end], _Event(kind=10), 0
        for number, kind, at, stop in fields(data):
            if number == 3 and kind == VARINT:
                event = event._replace(slot=int32(at))
            elif number == 4 and kind == VARINT:
                event = event._replace(mode=int32(at))
            elif number in (1, 2, 6) and kind == BYTES:
                text = self._intern(data[at:stop])
                event = event._replace(**{{1: "graph", 2: "op", 6: "where"}[number]: text})
            elif number == 5 and kind == BYTES:
                self._tensor(begin + at, begin + stop)
                tensors += 1
        return event._replace(tensors=tensors)

    def _execution(self, begin: int, end: int) -> _Event:
        data, event, tensors = self._data[begin:end], _Event(kind=9), 0
        for number, kind, at, stop in fields(data):
            if number == 2 and kind == VARINT:
                event = event._replace(outputs_said=int32(at))
            elif number == 6 and kind == VARINT:
                event = event._replace(mode=int32(at))
            elif number in (1, 3, 8) and kind == BYTES:
                text = self._intern(data[at:stop])
                event = event._replace(**{{1: "op", 3: "graph", 8: "where"}[number]: text})
            elif number == 7 and kind == BYTES:
                self._tensor(begin + at, begin + stop)
                tensors += 1
        counts = [self._ids(data, number, convert) for number, convert in ((4, signed), (5, signed), (9, int32))]
        return event._replace(tensors=tensors, inputs=counts[0], outputs=counts[1], devices=counts[2])

    def _ids(self, data: memoryview, wanted: int, convert: type[int] | object) -> int:
        before = len(self.ids)
        for number, kind, at, stop in fields(data):
            if number == wanted and kind == VARINT:
                self.ids.append(convert(at))  # type: ignore[operator]
            elif number == wanted and kind == BYTES:
                self.ids += map(convert, packed_varints(data, at, stop))  # type: ignore[arg-type]
        return len(self.ids) - before

    def _tensor(self, begin: int, end: int) -> None:
        data = self._data[begin:end]
        dtype, shape, content, columns = 0, -1, (-1, 0), b""
        for number, kind, at, stop in fields(data):
            if number == 1 and kind == VARINT:
                dtype = int32(at)
            elif number == 2 and kind == BYTES:
                shape = self._intern(data[at:stop])
            elif number == 4 and kind == BYTES:
                content = begin + at, stop - at
            elif number == 6 and kind in (BYTES, FIXED64):
                columns += bytes(_doubles(data[at:stop]))
        if content[1] and dtype == _DOUBLE_TYPE:
            columns = bytes(_doubles(self._data[content[0] : content[0] + content[1]]))
        columns = columns[: COLUMNS * 8]
        numbers = struct.unpack(f"<{COLUMNS}d", columns.ljust(COLUMNS * 8, b"\0"))
        self.tensors.append(
            TENSOR.pack(begin, end - begin, *content, dtype, shape, len(columns) // 8, 0, *numbers),
        )


def _doubles(data: memoryview) -> memoryview:
    if len(data) % 8:
        raise WireError("a list of doubles is cut off")
    return data


def read_debug_events(data: Buffer, spans: bytes) -> tuple[bytes, bytes, bytes, list[bytes], int]:
    """(events, tensors, ids, strings, how many records could not be read)."""
    reader, unreadable = _Reader(memoryview(data)), 0
    for offset, length in _SPAN.iter_unpack(spans):
        ids, tensors = len(reader.ids), len(reader.tensors)
        try:
            reader.read(offset, offset + length)
        except WireError:
            unreadable += 1
            del reader.ids[ids:], reader.tensors[tensors:]
    ids_packed = struct.pack(f"<{len(reader.ids)}q", *reader.ids)
    return b"".join(reader.events), b"".join(reader.tensors), ids_packed, reader.strings, unreadable
