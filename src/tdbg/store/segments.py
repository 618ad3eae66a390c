"""One process's files of one table in, record batches out: sealed and hot segments alike."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from tdbg.store.format import KIND_BATCH, KIND_SCHEMA, SCHEMAS, checksum_name, hot_name, parse_name, sealed_name
from tdbg.store.frames import Gap, read_frames

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile


@dataclass(frozen=True, slots=True)
class Segment:
    """One file of a table; ``number`` is 0 for a table that has only one file."""

    folder: Path
    table: str
    number: int
    is_sealed: bool

    @property
    def path(self) -> Path:
        name = sealed_name if self.is_sealed else hot_name
        return self.folder / name(self.table, self.number)

    def sealed(self) -> Segment:
        return Segment(self.folder, self.table, self.number, True)


@dataclass(slots=True)
class HotState:
    """How far a hot file has been read; reading goes on from here when the file has grown.

    ``lost`` counts the damaged bytes passed over, ``tail`` the bytes after the last whole frame.
    """

    end: int = 0
    rows: int = 0
    lost: int = 0
    tail: int = 0
    schema: pa.Schema | None = None


def list_segments(folder: Path) -> dict[str, list[Segment]]:
    """The files of each table in order; of a segment that is there both hot and sealed, the sealed one."""
    found: dict[tuple[str, int], Segment] = {}
    for name in os.listdir(folder):
        parsed = parse_name(name)
        if parsed is None:
            continue
        table, number, is_sealed = parsed
        if is_sealed or (table, number) not in found:
            found[table, number] = Segment(folder, table, number, is_sealed)
    segments: dict[str, list[Segment]] = {table: [] for table in SCHEMAS}
    for (table, _), segment in sorted(found.items(), key=lambda item: item[0]):
        segments[table].append(segment)
    return segments


def read_hot(segment: Segment, state: HotState) -> Iterator[pa.RecordBatch]:
    """The batches of a hot file that lie beyond ``state``, which moves along. FileNotFoundError once it is sealed."""
    with open(segment.path, "rb") as file:
        state.tail = 0
        for frame in read_frames(file, state.end):
            if isinstance(frame, Gap):
                if frame.is_tail:
                    state.tail = frame.size
                    return
                state.lost += frame.size
            elif frame.kind == KIND_SCHEMA:
                state.schema = pa.ipc.read_schema(pa.py_buffer(frame.payload))
            elif frame.kind == KIND_BATCH:
                batch = _decode(frame.payload, state.schema)
                if batch is None:
                    state.lost += frame.end - frame.position
                else:
                    state.rows += batch.num_rows
                    state.end = frame.end
                    yield conform(batch, SCHEMAS[segment.table])
            state.end = frame.end


def _decode(payload: memoryview, schema: pa.Schema | None) -> pa.RecordBatch | None:
    """None when the batch cannot be what was written: its schema is lost, or its buffers contradict each other."""
    if schema is None:
        return None
    try:
        batch = pa.ipc.read_record_batch(pa.py_buffer(payload), schema)
        batch.validate(full=True)
    except (pa.ArrowException, OSError):
        return None
    return batch


def checksum(path: Path) -> str:
    """What the ``.crc32`` file of a sealed segment holds."""
    crc = 0
    with open(path, "rb") as file:
        while chunk := file.read(1 << 20):
            crc = zlib.crc32(chunk, crc)
    return f"{crc:08x}"


def matches_checksum(segment: Segment) -> bool:
    """Whether a sealed segment is bit for bit what was sealed; True where no checksum is left to tell."""
    try:
        stated = (segment.folder / checksum_name(segment.table, segment.number)).read_bytes().strip()
    except OSError:
        return True
    return len(stated) != 8 or stated == checksum(segment.path).encode()


def open_sealed(segment: Segment) -> ParquetFile:
    import pyarrow.parquet as pq

    return pq.ParquetFile(segment.path, page_checksum_verification=True)


def read_sealed(file: ParquetFile, wanted: pa.Schema) -> pa.Table:
    """The wanted columns of all rows."""
    present = set(file.schema_arrow.names)
    rows = file.read(columns=[name for name in wanted.names if name in present])
    if not rows.column_names:
        rows = pa.table({"": pa.nulls(file.metadata.num_rows)})
    return conform(rows, wanted)


def conform(rows: Any, wanted: pa.Schema) -> Any:
    """A batch or table with exactly the wanted columns; one that an older version did not write yet is all null."""
    if rows.schema.equals(wanted):
        return rows
    arrays = []
    for field in wanted:
        at = rows.schema.get_field_index(field.name)
        column = rows.column(at) if at >= 0 else pa.nulls(rows.num_rows, field.type)
        arrays.append(column if column.type == field.type else column.cast(field.type))
    return type(rows).from_arrays(arrays, schema=wanted)


def columns_of(table: str, columns: Sequence[str]) -> pa.Schema:
    """The schema of some columns of a table."""
    return pa.schema([SCHEMAS[table].field(name) for name in columns])
