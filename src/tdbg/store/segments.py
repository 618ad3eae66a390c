"""Reads one process's files of one table as record batches, sealed and hot segments alike."""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from tdbg.store.footer import Group, read_footer
from tdbg.store.format import KIND_BATCH, KIND_SCHEMA, SCHEMAS, checksum_name, hot_name, parse_name, sealed_name
from tdbg.store.frames import Gap, read_frames
from tdbg.store.plain_files import open_plain, read_plain
from tdbg.store.soundness import (
    MOST_BATCH_BYTES,
    check_footer,
    check_key,
    check_sealed_file,
    conform,
    read_batch,
    read_schema,
)

if TYPE_CHECKING:
    from pyarrow.parquet import ParquetFile

UNREADABLE = (pa.ArrowException, OSError, ValueError, EOFError, OverflowError)  # how a damaged file shows itself
_MOST_CHECKSUM = 64  # bytes


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

    ``lost`` counts the damaged bytes passed over, ``tail`` the bytes after the last whole frame, ``unsound`` the rows
    that contradict others of their table.
    """

    end: int = 0
    rows: int = 0
    lost: int = 0
    tail: int = 0
    unsound: int = 0
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
    table = SCHEMAS[segment.table]
    with open_plain(segment.path) as file:
        state.tail = 0
        for frame in read_frames(file, state.end, MOST_BATCH_BYTES):
            if isinstance(frame, Gap):
                if frame.is_tail:
                    state.tail = frame.size
                    return
                state.lost += frame.size
            elif frame.kind == KIND_SCHEMA:
                state.schema = read_schema(frame.payload, table)
                if state.schema is None:
                    state.lost += frame.end - frame.position
            elif frame.kind == KIND_BATCH:
                batch = read_batch(frame.payload, state.schema, table)
                if batch is None:
                    state.lost += frame.end - frame.position
                else:
                    state.rows += batch.num_rows
                    state.end = frame.end
                    yield batch
            state.end = frame.end


def checksum(path: Path) -> str:
    """What the ``.crc32`` file of a sealed segment holds."""
    crc = 0
    with open_plain(path) as file:
        while chunk := file.read(1 << 20):
            crc = zlib.crc32(chunk, crc)
    return f"{crc:08x}"


def matches_checksum(segment: Segment) -> bool:
    """Whether a sealed segment is bit for bit what was sealed; True where no checksum is left to tell."""
    try:
        stated = read_plain(segment.folder / checksum_name(segment.table, segment.number), _MOST_CHECKSUM).strip()
    except OSError:
        return True
    return len(stated) != 8 or stated == checksum(segment.path).encode()


def open_sealed(segment: Segment) -> ParquetFile:
    """One of UNREADABLE when it cannot be read, or not safely."""
    schema = SCHEMAS[segment.table]
    file = open_parquet(segment.path, schema)
    try:
        check_key(file.schema_arrow, schema)
    except ValueError:
        file.close()
        raise
    return file


def open_parquet(path: Path, wanted: pa.Schema) -> ParquetFile:
    """The same of any Parquet file of a trace with these columns, of which some may be missing."""
    import pyarrow.parquet as pq

    check_sealed_file(path)
    file = pq.ParquetFile(path, page_checksum_verification=True)
    try:
        check_footer(file, footer_of(path), wanted)
    except ValueError:
        file.close()
        raise
    return file


def footer_of(path: Path) -> tuple[Group, ...]:
    """What a Parquet file says of its row groups."""
    with open_plain(path) as file:
        return read_footer(file)


def read_sealed(file: ParquetFile, wanted: pa.Schema) -> pa.Table:
    """The wanted columns of all rows."""
    present = set(file.schema_arrow.names)
    rows = file.read(columns=[name for name in wanted.names if name in present])
    if not rows.column_names:
        rows = file.read(columns=file.schema_arrow.names[:1])
    return conform(rows, wanted)


def columns_of(table: str, columns: Sequence[str]) -> pa.Schema:
    """The schema of some columns of a table."""
    return pa.schema([SCHEMAS[table].field(name) for name in columns])
