"""Follows a program that is still writing, across sealing: gives the batches written since a cursor."""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from tdbg.store.format import KIND_SCHEMA, SCHEMAS
from tdbg.store.frames import read_frame_at
from tdbg.store.plain_files import open_plain
from tdbg.store.segments import UNREADABLE, HotState, Segment, list_segments, open_sealed, read_hot, read_sealed
from tdbg.store.soundness import read_schema
from tdbg.store.tables import ProcessTables

# Per process folder and table: segment number, bytes read of its hot file, rows read of it. Plain JSON, so that it can
# travel to a browser and back.
Cursor = dict[str, dict[str, list[int]]]


def read_new(
    processes: Iterable[ProcessTables], cursor: Cursor | None
) -> tuple[Cursor, dict[str, list[pa.RecordBatch]]]:
    """The new cursor and, per table, what was written since the old one (everything, when that is None)."""
    batches: dict[str, list[pa.RecordBatch]] = {}
    moved: Cursor = {}
    for tables in processes:
        name = tables.process.name
        places = dict((cursor or {}).get(name, {}))
        # Referring tables come first in SCHEMAS, so whatever their rows refer to is on disk when its turn comes.
        for table in SCHEMAS:
            place, new = _read_table(tables, table, places.get(table, [0, 0, 0]))
            places[table] = place
            if new:
                batches.setdefault(table, []).extend(_with_process(batch, tables.process.index) for batch in new)
        moved[name] = places
    return moved, batches


def _read_table(tables: ProcessTables, table: str, place: list[int]) -> tuple[list[int], list[pa.RecordBatch]]:
    number, end, rows = place
    new: list[pa.RecordBatch] = []
    # Listed before any is read: a segment with a successor in this list is complete.
    segments = [segment for segment in list_segments(tables.folder)[table] if segment.number >= number]
    for segment in segments:
        if segment.number != number:
            number, end, rows = segment.number, 0, 0
        end, rows, batches = _read_segment(segment, end, rows)
        new += batches
    return [number, end, rows], new


def _read_segment(segment: Segment, end: int, rows: int) -> tuple[int, int, list[pa.RecordBatch]]:
    if not segment.is_sealed:
        try:
            state = HotState(end=end, rows=rows, schema=_schema(segment) if end else None)
            batches = list(read_hot(segment, state))
            return state.end, state.rows, batches
        except FileNotFoundError:
            segment = segment.sealed()
        except OSError:
            return end, rows, []
    try:
        with open_sealed(segment) as file:
            if file.metadata.num_rows <= rows:
                return end, rows, []
            table = read_sealed(file, SCHEMAS[segment.table])
    except UNREADABLE:
        return end, rows, []
    # Sealing keeps the order of rows, so those already given are the first ones.
    return end, len(table), table.slice(rows).to_batches()


def _schema(segment: Segment) -> pa.Schema | None:
    with open_plain(segment.path) as file:
        frame = read_frame_at(file, 0)
    if frame is None or frame.kind != KIND_SCHEMA:
        return None
    return read_schema(frame.payload, SCHEMAS[segment.table])


def _with_process(batch: pa.RecordBatch, index: int) -> pa.RecordBatch:
    process = pa.repeat(pa.scalar(index, pa.int32()), batch.num_rows)
    schema = pa.schema([pa.field("process", pa.int32()), *batch.schema])
    return pa.RecordBatch.from_arrays([process, *batch.columns], schema=schema)
