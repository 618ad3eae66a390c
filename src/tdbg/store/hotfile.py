"""Appends batches to one file of frames, into the page cache at once, so that they outlive a killed process."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pyarrow as pa

from tdbg.store.format import KIND_BATCH, KIND_SCHEMA
from tdbg.store.frames import frame_parts
from tdbg.store.own_files import OwnFile, open_high

_MOST_BATCH_BYTES = 64 << 20


class HotFile:
    """Appends whole frames; a write that fails leaves the file as it was before, and raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.rows = 0
        self._file = OwnFile(path, open_high(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))

    def write(self, kind: int, rows: int, payload: bytes | memoryview) -> int:
        """Appends one frame and returns where it begins."""
        position = self.size
        try:
            written = self._write_all(frame_parts(kind, rows, payload, position), position)
        except OSError:
            # What is left of half a frame would be skipped by readers anyway; the next write must start clean.
            with contextlib.suppress(OSError):
                os.ftruncate(self._file.descriptor(), position)
            raise
        self.size += written
        self.rows += rows
        return position

    def write_batch(self, batch: pa.RecordBatch) -> None:
        if self.size == 0:
            self.write(KIND_SCHEMA, 0, memoryview(batch.schema.serialize()))
        if batch.nbytes > _MOST_BATCH_BYTES and batch.num_rows > 1:  # readers refuse what is larger than they expect
            half = batch.num_rows // 2
            self.write_batch(batch.slice(0, half))
            self.write_batch(batch.slice(half))
            return
        self.write(KIND_BATCH, batch.num_rows, memoryview(batch.serialize()))

    def _write_all(self, parts: list[bytes | memoryview], position: int) -> int:
        waiting = [memoryview(part) for part in parts if len(part)]
        total = sum(view.nbytes for view in waiting)
        while waiting:
            descriptor = self._file.descriptor()
            os.lseek(descriptor, position, os.SEEK_SET)
            done = os.writev(descriptor, waiting)
            position += done
            while waiting and done >= waiting[0].nbytes:
                done -= waiting.pop(0).nbytes
            if done:
                waiting[0] = waiting[0][done:]
        return total

    def close(self) -> None:
        self._file.close()
