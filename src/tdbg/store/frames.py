"""Payloads in, frames of a hot file out, and back; what a crash or a bad disk left behind is found and measured."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from tdbg.store.format import ALIGNMENT, CRC_FROM, HEADER, MAGIC


class Frame(NamedTuple):
    """One whole frame whose checksum is right."""

    position: int
    end: int
    kind: int
    rows: int
    payload: memoryview


class Gap(NamedTuple):
    """Bytes that belong to no whole frame. At the end of a file that is still being written, a gap is normal."""

    position: int
    end: int
    is_tail: bool

    @property
    def size(self) -> int:
        return self.end - self.position


def frame_parts(kind: int, rows: int, payload: bytes | memoryview, position: int) -> list[bytes | memoryview]:
    """The pieces of one frame, ready for ``os.writev``."""
    size = len(payload)
    padding = bytes(-size % ALIGNMENT)
    checked = HEADER.pack(MAGIC, 0, kind, rows, size, position)[CRC_FROM:]
    crc = zlib.crc32(padding, zlib.crc32(payload, zlib.crc32(checked)))
    return [HEADER.pack(MAGIC, crc, kind, rows, size, position), payload, padding]


def read_frames(file: BinaryIO, start: int = 0) -> Iterator[Frame | Gap]:
    """Frames from ``start`` to the end of the file as it is now; damage between two whole frames comes as a Gap."""
    position = start
    while True:
        file.seek(position)
        header = file.read(HEADER.size)
        if not header:
            return
        frame = _check(header, file, position)
        if frame is None:
            file.seek(position)
            rest = file.read()
            frame = _next_whole(rest, position)
            if frame is None:
                yield Gap(position, position + len(rest), is_tail=True)
                return
            yield Gap(position, frame.position, is_tail=False)
        yield frame
        position = frame.end


def read_frame_at(file: BinaryIO, position: int) -> Frame | None:
    """The frame that begins at ``position``, or None when there is no whole one."""
    file.seek(position)
    return _check(file.read(HEADER.size), file, position)


def _check(header: bytes, file: BinaryIO, position: int) -> Frame | None:
    """The frame whose header was just read from ``position``; ``file`` stands behind that header."""
    size = _payload_size(header, position)
    if size is None:
        return None
    padded = size + -size % ALIGNMENT
    # A damaged length may claim anything, so see how much there is before reserving memory for it.
    if os.fstat(file.fileno()).st_size < position + HEADER.size + padded:
        return None
    return _verified(header, memoryview(file.read(padded)), size, position)


def _next_whole(data: bytes, base: int) -> Frame | None:
    """The first frame after the beginning of ``data`` that verifies; ``base`` is where ``data`` lies in its file."""
    view = memoryview(data)
    at = data.find(MAGIC, 1)
    while at >= 0:
        header = data[at : at + HEADER.size]
        size = _payload_size(header, base + at)
        if size is not None:
            body = at + HEADER.size
            frame = _verified(header, view[body : body + size + -size % ALIGNMENT], size, base + at)
            if frame is not None:
                return frame
        at = data.find(MAGIC, at + 1)
    return None


def _payload_size(header: bytes, position: int) -> int | None:
    """The payload's length when the header can be one that was written at ``position``."""
    if len(header) < HEADER.size:
        return None
    magic, _, _, _, size, stated = HEADER.unpack(header)
    return size if magic == MAGIC and stated == position else None


def _verified(header: bytes, body: memoryview, size: int, position: int) -> Frame | None:
    if len(body) != size + -size % ALIGNMENT:
        return None
    _, crc, kind, rows, _, _ = HEADER.unpack(header)
    if zlib.crc32(body, zlib.crc32(header[CRC_FROM:])) != crc:
        return None
    return Frame(position, position + HEADER.size + len(body), kind, rows, body[:size])
