"""Writes columns of events to the files of one process's folder, from one background thread."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import socket
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa

from tdbg.errors import TdbgError
from tdbg.store.format import (
    END_JSON,
    NAME,
    NUMBER_COLUMNS,
    PROCESS_JSON,
    SCHEMAS,
    SEALED_TABLES,
    TRACE_JSON,
    VERSION,
    WRITE_ORDER,
    hot_name,
)
from tdbg.store.hotfile import HotFile
from tdbg.store.own_files import OwnFile, open_high
from tdbg.store.seal import seal
from tdbg.store.tensors import ValueWriter

Column: TypeAlias = Sequence | np.ndarray | pa.Array

_SPARE_BYTES = 16 << 10


class TraceWriter:
    """Writes one process's part of a trace. Every method may raise OSError; the trace stays readable when one does."""

    def __init__(self, trace: str | Path, process: Mapping[str, Any], *, segment_bytes: int = 32 << 20) -> None:
        self.rows: dict[str, int] = dict.fromkeys(SCHEMAS, 0)
        self.bytes_written = 0
        self.folder = _make_folders(Path(trace), dict(process))
        self._segment_bytes = segment_bytes
        self._buffered: dict[str, list[pa.RecordBatch]] = {name: [] for name in SCHEMAS}
        self._files: dict[str, HotFile] = {}
        self._numbers = dict.fromkeys(SEALED_TABLES, 1)
        self._unsealed: list[tuple[str, int]] = []
        self._values = ValueWriter(self.folder)
        self._new_values: list[tuple] = []
        self._spare = _spare_room(self.folder)
        self._end: dict[str, Any] = {}
        self._closed = False

    def append(self, table: str, columns: Mapping[str, Column]) -> None:
        """Keeps a copy of one batch until ``flush``; ValueError when it does not fit the table's schema."""
        self._check_open()
        batch = _record_batch(table, columns)
        if batch.num_rows:
            self._buffered[table].append(batch)

    def remove_values(self, used: int) -> None:
        """Removes what only values hold that were put before the last ``used`` ones: a ring has overwritten them."""
        self._check_open()
        self._values.remove_before(used)

    def put_value(self, data: bytes | memoryview, dtype: int, dims: Sequence[int]) -> int:
        """Stores a full tensor and returns its id; the same content again is the same id."""
        self._check_open()
        before = self._values.bytes_written
        value, row = self._values.put(data, dtype, dims)
        self.bytes_written += self._values.bytes_written - before
        if row is not None:
            self._new_values.append(row)
        return value

    def _append_values(self) -> None:
        """The rows of the values put since the last time, as one batch."""
        if self._new_values:
            columns = zip(*self._new_values, strict=True)
            self.append("values", dict(zip(SCHEMAS["values"].names, map(list, columns), strict=True)))
            self._new_values.clear()

    def flush(self) -> None:
        """Hands everything buffered to the operating system, what is referred to before what refers to it.

        After OSError the rows not yet written stay buffered for the next try (see ``discard_buffered``).
        """
        self._check_open()
        if not self.folder.is_dir():  # files that were removed can still be written to
            raise FileNotFoundError(errno.ENOENT, "its folder was removed")
        self._append_values()
        for table in WRITE_ORDER:
            batches = self._buffered[table]
            if batches:
                self._write(table, _joined(batches))
                batches.clear()

    def discard_buffered(self) -> dict[str, int]:
        """Gives up the rows that could not be written, and says how many of each table, so that they are counted."""
        self._append_values()
        lost = {table: sum(batch.num_rows for batch in batches) for table, batches in self._buffered.items() if batches}
        for batches in self._buffered.values():
            batches.clear()
        return lost

    def seal_if_large(self) -> None:
        """Seals the segments that have grown past ``segment_bytes``; after OSError a later call tries again."""
        if self.rotate_if_large():
            self.seal_waiting()

    def rotate_if_large(self) -> bool:
        """Begins new segments for those that have grown past ``segment_bytes``; whether any waits to be sealed."""
        self._check_open()
        for table in SEALED_TABLES & self._files.keys():
            if self._files[table].size >= self._segment_bytes:
                self._rotate(table)
        return bool(self._unsealed)

    def seal_waiting(self) -> None:
        """Seals what waits for it. One other thread may do so while this writer writes on, but not while it closes."""
        while self._unsealed:
            seal(self.folder, *self._unsealed[0])
            del self._unsealed[0]
        pa.default_memory_pool().release_unused()

    def close(self, end: Mapping[str, Any]) -> None:
        """Writes and seals all that is left, then ``end.json``; does as much of it as it can before raising OSError.

        A segment that cannot be sealed stays hot, which readers do not mind; rows that cannot be written are counted
        in ``end.json`` as lost.
        """
        if self._closed:
            return
        failures: list[OSError] = []
        lost: dict[str, int] = {}
        try:
            self.flush()
        except OSError as error:
            failures.append(error)
            lost = self.discard_buffered()
        for table in SEALED_TABLES & self._files.keys():
            self._rotate(table)
        try:
            self.seal_waiting()
        except OSError as error:
            failures.append(error)
        self._release()
        self.amend_end({"ended": time.time_ns(), "rows": self.rows, "lost": lost, **end})
        if failures:
            raise failures[0]

    def amend_end(self, more: Mapping[str, Any]) -> None:
        """Writes ``end.json`` again with what became known after ``close``."""
        self._end.update(more)
        _write_json(self.folder / END_JSON, self._end)

    def discard_after_fork(self) -> None:
        """In a forked child: lets go of the parent's files and writes nothing."""
        self._new_values.clear()
        for batches in self._buffered.values():
            batches.clear()
        self._release()

    def _write(self, table: str, batch: pa.RecordBatch) -> None:
        file = self._files.get(table)
        if file is None:
            number = self._numbers.get(table, 0)
            file = self._files[table] = HotFile(self.folder / hot_name(table, number))
        before = file.size
        try:
            file.write_batch(batch)
        finally:
            self.bytes_written += file.size - before
        self.rows[table] += batch.num_rows

    def _rotate(self, table: str) -> None:
        self._files.pop(table).close()
        self._unsealed.append((table, self._numbers[table]))
        self._numbers[table] += 1

    def _release(self) -> None:
        self._closed = True
        for file in self._files.values():
            file.close()
        self._values.close()
        if self._spare is not None:
            self._spare.close()
            self._spare = None

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError("This trace writer is closed.")


def _record_batch(table: str, columns: Mapping[str, Column]) -> pa.RecordBatch:
    schema = SCHEMAS.get(table)
    if schema is None:
        raise ValueError(f"There is no table {table!r}; there are {', '.join(SCHEMAS)}.")
    if columns.keys() != set(schema.names):
        wrong = sorted(columns.keys() ^ set(schema.names))
        raise ValueError(f"Table {table!r} was given missing or unknown columns: {', '.join(wrong)}.")
    arrays = [_array(table, field, columns[field.name]) for field in schema]
    lengths = {len(array) for array in arrays}
    if len(lengths) > 1:
        raise ValueError(f"Table {table!r} was given columns of different lengths: {sorted(lengths)}.")
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _array(table: str, field: pa.Field, column: Column) -> pa.Array:
    try:
        if isinstance(column, np.ndarray):
            # Copied, because the caller's buffer is likely to be filled again before the flush.
            array = pa.array(column.copy())
            array = array if array.type == field.type else array.cast(field.type)
        elif isinstance(column, pa.Array):
            array = column if column.type == field.type else column.cast(field.type)
        else:
            array = _array_of_cells(column, field.type)
    except MemoryError as error:
        raise OSError(errno.ENOMEM, "out of memory") from error
    except (pa.ArrowException, TypeError, OverflowError) as error:
        raise ValueError(f"Column {table}.{field.name} is not {field.type}: {error}") from error
    if array.null_count and not (table == "tensors" and field.name in NUMBER_COLUMNS):
        raise ValueError(f"Column {table}.{field.name} was given an empty cell (None).")
    return array


def _array_of_cells(cells: Sequence, kind: pa.DataType) -> pa.Array:
    try:
        return pa.array(cells, type=kind)
    except UnicodeEncodeError:
        # Python spells file names that are no UTF-8 with lone surrogates, which nothing else can read.
        return pa.array([cell.encode("utf-8", "replace").decode() for cell in cells], type=kind)


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    if len(batches) == 1:
        return batches[0]
    return pa.Table.from_batches(batches).combine_chunks().to_batches()[0]


def _make_folders(trace: Path, process: dict[str, Any]) -> Path:
    process = {"pid": os.getpid(), "host": socket.gethostname(), "started": time.time_ns()} | process
    try:
        trace.mkdir(parents=True, exist_ok=True)
        _claim(trace)
        for folder in _folder_names(trace, process):
            try:
                folder.mkdir()
            except FileExistsError:
                continue
            _write_json(folder / PROCESS_JSON, process)
            return folder
    except OSError as error:
        raise TdbgError(
            f"Cannot record here: {error.strerror}. Choose another place with -o or tdbg.enable(output=...), or free "
            f"some space: {trace}"
        ) from error
    raise AssertionError("unreachable: folder names do not run out")


def _claim(trace: Path) -> None:
    """Makes sure that the folder is a trace of this version; several processes may do so at once."""
    from tdbg.store.process import check_version

    if (trace / TRACE_JSON).exists():
        check_version(trace)
        return
    strangers = [entry.name for entry in trace.iterdir() if not entry.name.startswith(TRACE_JSON)]
    if strangers and not (trace / TRACE_JSON).exists():
        raise TdbgError(
            f"This folder contains other files and is not a trace; name a new one with -o, such as -o run.tdbg: {trace}"
        )
    _write_json(trace / TRACE_JSON, {"format": NAME, "version": VERSION})


def _folder_names(trace: Path, process: dict[str, Any]) -> Iterator[Path]:
    host = re.sub(r"[^A-Za-z0-9_.]", "_", str(process["host"]))[:64] or "host"
    started = int(process["started"])
    while True:
        yield trace / f"{host}-{int(process['pid'])}-{started}"
        started += 1


def _spare_room(folder: Path) -> OwnFile | None:
    """Space on the disk that closing gives back, so that a full disk still takes ``end.json``; the file has no name."""
    spare = None
    with contextlib.suppress(OSError, AttributeError):  # not every system has such files
        spare = OwnFile(None, open_high(folder, os.O_TMPFILE | os.O_RDWR, 0o600))
        os.posix_fallocate(spare.descriptor(), 0, _SPARE_BYTES)
    return spare


def _write_json(path: Path, content: dict[str, Any]) -> None:
    """Whole or not at all: readers look at any moment."""
    part = path.with_name(f"{path.name}.{os.getpid()}.part")
    try:
        with open(part, "w", encoding="utf-8", opener=open_high) as file:
            file.write(json.dumps(content, indent=1, default=str) + "\n")
        os.replace(part, path)
    except OSError:
        part.unlink(missing_ok=True)
        raise
