"""Reads the rows of the last events from the ring file of a process that was killed.

A process that ends by itself writes these rows to segments and removes the file; the layout is in native/record.py.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa

from tdbg.native.record import (
    RING_FILE,
    RING_HEADER,
    RING_HEADER_BYTES,
    RING_MAGIC,
    RING_VERSION,
    record_of_bytes,
)
from tdbg.store import ring_values
from tdbg.store.format import END_JSON, SCHEMAS
from tdbg.store.plain_files import is_plain_file, open_plain
from tdbg.store.records import Decoder

_MOST_RECORDS = 1 << 23
_TABLES = frozenset(["tensors", "executions", "ends"])


def read(folder: Path, table: str) -> pa.Table | None:
    """The rows of one table, in the order of their events; None when there is no ring or it has none of them."""
    if table not in _TABLES or not _is_left(folder):
        return None
    try:
        records = _whole(_slots(folder))
    except (OSError, ValueError):
        return None
    columns = Decoder(records.dtype).decode(records.tobytes(), ring_values.read(folder), is_last=True).get(table)
    if columns is None:
        return None
    schema = SCHEMAS[table]
    return pa.table([pa.array(columns[field.name]).cast(field.type) for field in schema], schema=schema)


def problems(folder: Path) -> list[str]:
    """What of the ring could not be read, in sentences."""
    if not _is_left(folder):
        return []
    file = f"{folder.name}/{RING_FILE}"
    try:
        slots = _slots(folder)
    except (OSError, ValueError) as error:
        return [f"{file} cannot be read and was left out ({error})."]
    torn = int(np.count_nonzero(_was_used(slots) & ~_is_whole(slots)))
    sentence = f"{torn} of the last events in {file} were being written or are damaged, and are not shown."
    return [sentence] if torn else []


def _is_left(folder: Path) -> bool:
    return os.path.lexists(folder / RING_FILE) and not is_plain_file(folder / END_JSON)


def _slots(folder: Path) -> np.ndarray:
    """All records as they lie in the file; ValueError when it is no ring that this version can read."""
    with open_plain(folder / RING_FILE) as file:
        header = file.read(RING_HEADER_BYTES)
        if len(header) < RING_HEADER_BYTES:
            raise ValueError("it is shorter than its header")
        magic, version, record_bytes, capacity = RING_HEADER.unpack_from(header)
        if magic != RING_MAGIC:
            raise ValueError("it is not a ring file")
        record = record_of_bytes(record_bytes)
        if version != RING_VERSION or record is None:
            raise ValueError(f"it is of version {version}, and this tdbg reads version {RING_VERSION}")
        held, rest = divmod(os.fstat(file.fileno()).st_size - RING_HEADER_BYTES, record.itemsize)
        if held != capacity or rest:
            raise ValueError(f"it holds {held} records and should hold {capacity}")
        if held > _MOST_RECORDS:
            raise ValueError(f"it holds {held:,} records, and at most {_MOST_RECORDS:,} are read")
        return np.fromfile(file, record, count=held)


def _is_whole(slots: np.ndarray) -> np.ndarray:
    ready = slots["ready"]
    return (ready > 0) & ((ready - 1) % len(slots) == np.arange(len(slots), dtype=np.uint64))


def _was_used(slots: np.ndarray) -> np.ndarray:
    return np.any(slots.view(np.uint8).reshape(len(slots), -1), axis=1)


def _whole(slots: np.ndarray) -> np.ndarray:
    found = slots[_is_whole(slots)]
    return found[np.argsort(found["ready"])]
