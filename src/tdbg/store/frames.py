"""Reads and writes the frames of a hot file; finds and measures what a crash or a bad disk left behind."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from tdbg.store.format import ALIGNMENT, CRC_FROM, HEADER, MAGIC

MOST_BYTES = 1 << 32  # of a payload
_CHUNK = 1 << 20


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


def read_frames(file: BinaryIO, start: int = 0, most: int = MOST_BYTES) -> Iterator[Frame | Gap]:
    """Frames with payloads of at most ``most`` bytes, from ``start`` to the end of the file as it is now; damage
    between two whole frames comes as a Gap."""
    position = start
    while True:
        file.seek(position)
        header = file.read(HEADER.size)
        if not header:
            return
        frame = _check(header, file, position, most)
        if frame is None:
            end = os.fstat(file.fileno()).st_size
            frame = _next_whole(file, position + 1, end, most)
            if frame is None:
                yield Gap(position, end, is_tail=True)
                return
            yield Gap(position, frame.position, is_tail=False)
        yield frame
        position = frame.end


def read_frame_at(file: BinaryIO, position: int) -> Frame | None:
    """The frame that begins at ``position``, or None when there is no whole one."""
    file.seek(position)
    return _check(file.read(HEADER.size), file, position, MOST_BYTES)


def _check(header: bytes, file: BinaryIO, position: int, most: int) -> Frame | None:
    """The frame whose header was just read from ``position``; ``file`` stands behind that header."""
    size = _payload_size(header, position)
    if size is None or size > most:
        return None
    padded = size + -size % ALIGNMENT
    # A damaged length may claim anything, so see how much there is before reserving memory for it.
    if os.fstat(file.fileno()).st_size < position + HEADER.size + padded:
        return None
    return _verified(header, memoryview(file.read(padded)), size, position)


def _next_whole(file: BinaryIO, position: int, end: int, most: int) -> Frame | None:
    """The first frame from ``position`` on that verifies. A file may be a hole of any length, which is passed over."""
    while position < end:
        try:
            position = file.seek(position, os.SEEK_DATA)
        except OSError:  # nothing but a hole follows
            return None
        data = file.read(min(_CHUNK, end - position))
        if len(data) < len(MAGIC):
            return None
        at = data.find(MAGIC)
        while at >= 0:
            file.seek(position + at)
            frame = _check(file.read(HEADER.size), file, position + at, most)
            if frame is not None:
                return frame
            at = data.find(MAGIC, at + 1)
        position += len(data) - len(MAGIC) + 1
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
