"""Turns hot segments into Parquet with rollups, one row group in memory at a time."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from tdbg.model import STATISTICS
from tdbg.store.format import KIND_BATCH, KIND_SCHEMA, checksum_name, hot_name, rollup_name, sealed_name
from tdbg.store.frames import Gap, read_frames
from tdbg.store.own_files import open_high
from tdbg.store.segments import checksum

# Large enough to compress and scan well; what sealing holds in memory is one of these (153 bytes a row of tensors).
ROW_GROUP_ROWS = 64 * 1024

_DELTA = "DELTA_BINARY_PACKED"
_SPLIT = "BYTE_STREAM_SPLIT"

# Per table, the columns that are better off without a dictionary.
ENCODINGS: dict[str, dict[str, str]] = {
    "tensors": {
        "seq": _DELTA,
        "time": _DELTA,
        "execution": _DELTA,
        "op": _DELTA,
        "tensor": _DELTA,
        **dict.fromkeys(STATISTICS, _SPLIT),
    },
    "executions": {"execution": _DELTA, "seq": _DELTA, "time": _DELTA, "inputs.list.element": _DELTA},
    "ends": {"execution": _DELTA, "time": _DELTA, "outputs.list.element": _DELTA},
}


def seal(folder: Path, table: str, number: int) -> bool:
    """Replaces a hot segment by Parquet; False when it is damaged and so is left for readers to tell what is lost."""
    hot = folder / hot_name(table, number)
    sealed = folder / sealed_name(table, number)
    made: list[Path] = []
    try:
        with open(hot, "rb", opener=open_high) as file:
            rollups = _write_rows(file, table, _temporary(sealed, made))
        targets = [sealed]
        for kind, rollup in rollups.items():
            target = folder / rollup_name(table, number, kind)
            _write_rollup(rollup, _temporary(target, made))
            targets.insert(0, target)
        targets.insert(0, folder / checksum_name(table, number))
        with open(_temporary(targets[0], made), "w", opener=open_high) as file:
            file.write(checksum(_temporary_name(sealed)) + "\n")
        for path in made:
            _sync(path)
    except _DamagedError:
        _remove(made)
        return False
    except BaseException:
        _remove(made)
        raise
    # Readers take the Parquet file's presence to mean that its rollups and checksum are there too.
    for target in targets:
        os.replace(_temporary_name(target), target)
    _sync(folder)
    os.unlink(hot)
    return True


def parquet_options(table: str, schema: pa.Schema) -> dict[str, Any]:
    """How the columns of a table are encoded; see benchmarks/store.py for what each choice costs."""
    encodings = ENCODINGS.get(table, {})
    return {
        "compression": "zstd",
        "compression_level": 1,
        "use_dictionary": [field.name for field in schema if field.name not in encodings and not field.type.num_fields],
        "column_encoding": dict(encodings),
        "write_statistics": True,
        "write_page_checksum": True,
    }


class _DamagedError(Exception):
    pass


def _write_rows(file: Any, table: str, target: Path) -> dict[str, pa.Table]:
    import pyarrow.parquet as pq

    from tdbg.store import rollup

    kinds = tuple(rollup.KEYS) if table == "tensors" else ()
    rollups: dict[str, pa.Table] = {}
    groups = _row_groups(file)
    first = next(groups)
    with (
        open(target, "wb", opener=open_high) as place,
        pq.ParquetWriter(place, first.schema, **parquet_options(table, first.schema)) as writer,
    ):
        group: pa.Table | None = first
        while group is not None:
            writer.write_table(group, row_group_size=2 * ROW_GROUP_ROWS)
            for kind in kinds:
                parts = [rollups[kind]] if kind in rollups else []
                rollups[kind] = rollup.merge([*parts, rollup.roll_up(group, kind)], kind)
            group = next(groups, None)
    return rollups


def _row_groups(file: Any) -> Iterator[pa.Table]:
    """The rows of a hot file in tables of about ROW_GROUP_ROWS rows; at least one, which may be empty."""
    schema: pa.Schema | None = None
    waiting: list[pa.RecordBatch] = []
    rows = given = 0
    for frame in read_frames(file):
        if isinstance(frame, Gap):
            raise _DamagedError
        if frame.kind == KIND_SCHEMA:
            schema = pa.ipc.read_schema(pa.py_buffer(frame.payload))
        elif frame.kind == KIND_BATCH:
            waiting.append(pa.ipc.read_record_batch(pa.py_buffer(frame.payload), schema))
            rows += frame.rows
        if rows >= ROW_GROUP_ROWS:
            yield pa.Table.from_batches(waiting, schema)
            waiting, rows, given = [], 0, given + 1
    if schema is None:
        raise _DamagedError
    if rows or not given:
        yield pa.Table.from_batches(waiting, schema)


def _write_rollup(table: pa.Table, path: Path) -> None:
    import pyarrow.parquet as pq

    with open(path, "wb", opener=open_high) as place:
        pq.write_table(table, place, compression="zstd", compression_level=1, write_page_checksum=True)


def _temporary_name(path: Path) -> Path:
    return path.with_name(path.name + ".part")


def _temporary(path: Path, made: list[Path]) -> Path:
    made.append(_temporary_name(path))
    return made[-1]


def _sync(path: Path) -> None:
    fd = open_high(path, os.O_RDONLY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _remove(paths: list[Path]) -> None:
    for path in paths:
        with contextlib.suppress(OSError):
            path.unlink()
