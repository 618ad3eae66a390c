"""Reads whole records from TFRecord files and counts what was lost; writes records into such files."""

from __future__ import annotations

import mmap
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

import numpy as np

from tdbg.formats.debug_events.columns import Columns, library, read_columns
from tdbg.store.plain_files import open_plain

_CHUNK = 1 << 17
_LENGTH, _CRC = struct.Struct("<Q"), struct.Struct("<I")


@dataclass
class Losses:
    """What could not be read of one file."""

    records: int = 0  # with a wrong checksum
    bytes: int = 0  # of those, and passed over in search of the next whole record
    tail: int = 0  # bytes at the end that are no whole record
    unreadable: int = 0  # whole records that hold no message of the kind that belongs there
    missing: bool = False

    def as_text(self, file: str) -> str:
        """One sentence; empty when nothing was lost."""
        parts = []
        if self.missing:
            parts.append("is missing")
        if self.bytes:
            parts.append(f"has {self.bytes:,} damaged bytes")
        if self.tail:
            parts.append(f"is cut off: its last {self.tail:,} bytes are an incomplete record")
        if self.unreadable:
            parts.append(f"has {self.unreadable:,} records that are not debug events")
        return f"{file} {' and '.join(parts)}" if parts else ""

    @property
    def count(self) -> int:
        return max(self.records + self.unreadable + bool(self.tail) + bool(self.bytes and not self.records), 1)


@dataclass
class RecordFile:
    """One TFRecord file; ``losses`` is complete once it was read to its end."""

    path: Path
    losses: Losses = field(default_factory=Losses)

    def __post_init__(self) -> None:
        self._data: mmap.mmap | bytes = b""
        try:
            with open_plain(self.path) as file:
                if os.fstat(file.fileno()).st_size:
                    self._data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except FileNotFoundError:
            self.losses.missing = True

    @property
    def size(self) -> int:
        return len(self._data)

    def chunks(self, most: int = _CHUNK) -> Iterator[tuple[bytes, int]]:
        """Spans of whole records, and how far in the file they reach."""
        at = 0
        self.losses = Losses(missing=self.losses.missing, unreadable=self.losses.unreadable)
        while at < self.size:
            spans, at, records, lost, tail = library().read_records(self._data, at, most)
            self.losses.records += records
            self.losses.bytes += lost
            self.losses.tail += tail
            yield spans, at

    def records(self) -> Iterator[bytes]:
        for spans, _ in self.chunks():
            for offset, length in np.frombuffer(spans, "<i8").reshape(-1, 2).tolist():
                yield self._data[offset : offset + length]

    def columns(self, most: int = _CHUNK) -> Iterator[tuple[Columns, int]]:
        """Executions or traces as columns, chunk by chunk, and how far in the file each chunk reaches."""
        unreadable = 0
        for spans, at in self.chunks(most):
            columns = read_columns(self._data, spans)
            unreadable += columns.unreadable
            self.losses.unreadable = unreadable
            yield columns, at

    def part(self, offset: int, length: int) -> bytes:
        return self._data[offset : offset + length]


def write_record(file: IO[bytes], data: bytes) -> None:
    crc = library().masked_crc32c
    length = _LENGTH.pack(len(data))
    file.write(b"".join((length, _CRC.pack(crc(length)), data, _CRC.pack(crc(data)))))
