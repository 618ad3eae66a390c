"""One append-only file of frames: batches in, bytes in the page cache out, so that they outlive a killed process."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pyarrow as pa

from tdbg.store.format import KIND_BATCH, KIND_SCHEMA
from tdbg.store.frames import frame_parts

_MOST_BATCH_BYTES = 64 << 20


class HotFile:
    """Appends whole frames; a write that fails leaves the file as it was before, and raises OSError."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.size = 0
        self.rows = 0
        self._fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o644)

    def write(self, kind: int, rows: int, payload: bytes | memoryview) -> int:
        """Appends one frame and returns where it begins."""
        position = self.size
        try:
            written = self._write_all(frame_parts(kind, rows, payload, position))
        except OSError:
            # What is left of half a frame would be skipped by readers anyway; the next write must start clean.
            with contextlib.suppress(OSError):
                os.ftruncate(self._fd, position)
                os.lseek(self._fd, position, os.SEEK_SET)
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

    def _write_all(self, parts: list[bytes | memoryview]) -> int:
        waiting = [memoryview(part) for part in parts if len(part)]
        total = sum(view.nbytes for view in waiting)
        while waiting:
            done = os.writev(self._fd, waiting)
            while waiting and done >= waiting[0].nbytes:
                done -= waiting.pop(0).nbytes
            if done:
                waiting[0] = waiting[0][done:]
        return total

    def close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1
