"""Reads the tables of one process's folder: rows, counts, rollups, the first bad row, and what could not be read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.model import is_bad_output
from tdbg.store import ring, rollup
from tdbg.store.damage import reason_of
from tdbg.store.footer import Group, bounds
from tdbg.store.format import SCHEMAS, SEALED_TABLES, rollup_name
from tdbg.store.known import Known
from tdbg.store.plain_files import is_plain_file
from tdbg.store.process import ProcessInfo
from tdbg.store.segments import (
    UNREADABLE,
    HotState,
    Segment,
    columns_of,
    footer_of,
    list_segments,
    open_parquet,
    open_sealed,
    read_hot,
    read_sealed,
)
from tdbg.store.soundness import conform

# Further sources of rows in a process's folder, such as a ring file: each takes the folder and a table's name, and
# gives rows that no segment holds, or None.
EXTRA_ROWS: list[Callable[[Path, str], pa.Table | None]] = [ring.read]


class ProcessTables:
    """Reads what is on disk at the time of each call; the program may be writing meanwhile. Several that are given the
    same ``known`` share what is found out of files that do not change."""

    def __init__(self, process: ProcessInfo, known: Known | None = None) -> None:
        self.process = process
        self.folder = process.folder
        self.known = known or Known()
        self._hot: dict[Path, HotState] = {}
        self._unreadable: dict[Path, str] = {}

    def read(self, table: str, columns: Sequence[str]) -> list[pa.Table]:
        """All rows of a table, in the order they were written."""
        parts = [self.segment_rows(segment, columns) for segment in self.segments(table)]
        parts += [conform(rows, columns_of(table, columns)) for rows in self.extra(table)]
        return [part for part in parts if len(part)]

    def count(self, table: str) -> int:
        """How many rows ``read`` would give; reads no column of a sealed segment."""
        segments = sum(self._segment_count(segment) for segment in self.segments(table))
        return segments + sum(len(rows) for rows in self.extra(table))

    def segments(self, table: str) -> list[Segment]:
        return list_segments(self.folder)[table]

    def rollups(self, kind: str) -> Iterator[pa.Table]:
        """The rollups of all ``tensors``: of sealed segments the stored ones, of the rest made now."""
        segments = self.segments("tensors")
        sealed = [segment for segment in segments if segment.is_sealed]
        yield self.known.rollup(kind, sealed, lambda segment: self._segment_rollup(segment, kind))
        for segment in segments:
            if not segment.is_sealed:
                yield self._segment_rollup(segment, kind)
        for rows in self.extra("tensors"):
            yield rollup.roll_up(rows, kind)

    def first_bad(self) -> dict[str, Any] | None:
        """The bad row of ``tensors`` with the smallest ``seq``."""
        places: list[tuple[int, Segment | pa.Table]] = []
        places += [(self._first_bad_seq(segment), segment) for segment in self.segments("tensors")]
        places += [(_first_bad_seq(rows), rows) for rows in self.extra("tensors")]
        found = [place for place in places if place[0] >= 0]
        for seq, place in sorted(found, key=lambda place: place[0]):
            row = self._bad_row(place, seq) if isinstance(place, Segment) else _row_with_seq(place, seq)
            if row is not None:
                return row
        return None

    def sources(self, table: str) -> tuple[list[Path], list[pa.Table]]:
        """What a query engine needs: the Parquet files that can be read, and everything else as rows in memory."""
        files, rows = [], self.extra(table)
        segments = self.segments(table)
        self.known.look_at([segment for segment in segments if segment.is_sealed])
        for segment in segments:
            if segment.is_sealed:
                if self.is_sound(segment):
                    files.append(segment.path)
            else:
                rows.append(self.segment_rows(segment, SCHEMAS[table].names))
        return files, rows

    def problems(self) -> list[str]:
        """Everything found missing or damaged, in sentences; looks through all hot files and Parquet footers."""
        counts = {table: self.count(table) for table in SCHEMAS}
        found = [*self.process.problems, *self._unreadable.values(), *ring.problems(self.folder)]
        is_running = self.process.state == "running"
        for path, state in self._hot.items():
            file = f"{self.process.name}/{path.name}"
            if state.lost:
                found.append(f"{state.lost} bytes in the middle of {file} are damaged; the rows there are not shown.")
            if state.unsound:
                found.append(f"{state.unsound} rows of {file} contradict others; what they refer to was left out.")
            if state.tail and not is_running:
                found.append(f"The last {state.tail} bytes of {file} are an incomplete batch and are not shown.")
        return found + self._missing(counts)

    def _missing(self, counts: dict[str, int]) -> list[str]:
        """What the process said it wrote or could not write, against what is there."""
        found = []
        for table, written in self.process.end_counts("rows").items():
            if counts.get(table, 0) < written:
                missing = written - counts.get(table, 0)
                found.append(f"{missing} of {written} rows of {table} are missing from {self.process.name}.")
        lost_rows = self.process.end_counts("lost")
        if self.process.stopped:
            return [*found, _stopped_early(self.process, sum(lost_rows.get(table, 0) for table in SEALED_TABLES))]
        for table, lost in lost_rows.items():
            found.append(f"{lost} rows of {table} could not be written by {self.process.name} when it closed.")
        return found

    def extra(self, table: str) -> list[pa.Table]:
        found = (source(self.folder, table) for source in EXTRA_ROWS)
        new = (self._without_written(table, rows) for rows in found if rows is not None)
        return [rows for rows in new if len(rows)]

    def _without_written(self, table: str, rows: pa.Table) -> pa.Table:
        """A process that was killed while it wrote its ring's rows to segments has left some of them twice."""
        key = "seq" if "seq" in rows.column_names else "execution"
        written = [self.segment_rows(segment, [key])[key].to_numpy() for segment in self.segments(table)]
        if not written:
            return rows
        return rows.filter(pa.array(~np.isin(rows[key].to_numpy(), np.concatenate(written))))

    def segment_rows(self, segment: Segment, columns: Sequence[str]) -> pa.Table:
        if not segment.is_sealed:
            try:
                state, rows = self._hot_rows(segment)
            except FileNotFoundError:
                return self.segment_rows(segment.sealed(), columns)
            except OSError as error:
                self.cannot_read(segment.path, error)
                return SCHEMAS[segment.table].empty_table().select(columns)
            self._hot[segment.path] = state
            return rows.select(columns)
        if not self.is_sound(segment):
            return SCHEMAS[segment.table].empty_table().select(columns)
        try:
            with open_sealed(segment) as file:
                return read_sealed(file, columns_of(segment.table, columns))
        except UNREADABLE as error:
            self.cannot_read(segment.path, error)
            return SCHEMAS[segment.table].empty_table().select(columns)

    def _hot_rows(self, segment: Segment) -> tuple[HotState, pa.Table]:
        if segment.table not in SEALED_TABLES:
            return self.known.small_rows(segment)
        state = HotState()
        batches = list(read_hot(segment, state))
        return state, pa.Table.from_batches(batches, SCHEMAS[segment.table])

    def _segment_count(self, segment: Segment) -> int:
        if not segment.is_sealed:
            if segment.table not in SEALED_TABLES:
                return len(self.segment_rows(segment, SCHEMAS[segment.table].names[:1]))
            state = self._hot.setdefault(segment.path, HotState())
            try:
                for _ in read_hot(segment, state):
                    pass
            except FileNotFoundError:
                del self._hot[segment.path]
                return self._segment_count(segment.sealed())
            except OSError as error:
                self.cannot_read(segment.path, error)
            return state.rows
        if segment.path not in self.known.sealed_rows:
            self._hot.pop(segment.path.with_suffix(".arrows"), None)
            try:
                with open_sealed(segment) as file:
                    self.known.sealed_rows[segment.path] = file.metadata.num_rows
            except UNREADABLE as error:
                self.cannot_read(segment.path, error)
                return 0
        return self.known.sealed_rows[segment.path]

    def is_sound(self, segment: Segment) -> bool:
        """Page checksums do not cover the footer, and DuckDB looks at none: it would show damaged pages as rows."""
        path = segment.path
        try:
            is_intact = self.known.is_intact(segment)
        except UNREADABLE as error:
            self.cannot_read(path, error)
            return False
        if not is_intact:
            self.cannot_read(path, ValueError("it does not match its checksum"))
            return False
        return bool(self._segment_count(segment)) or path not in self._unreadable

    def _segment_rollup(self, segment: Segment, kind: str) -> pa.Table:
        stored = self._stored_rollup(segment, kind, rollup.schema(kind).names)
        if stored is not None:
            return stored
        return rollup.roll_up(self.segment_rows(segment, rollup.SOURCE_COLUMNS), kind)

    def _stored_rollup(self, segment: Segment, kind: str, columns: list[str]) -> pa.Table | None:
        path = self.folder / rollup_name(segment.table, segment.number, kind)
        if not segment.is_sealed or not is_plain_file(path):
            return None
        try:
            with open_parquet(path, rollup.schema(kind)) as file:
                is_complete = set(columns) <= set(file.schema_arrow.names)  # not as an older tdbg wrote it
                if not is_complete:
                    return None
                wanted = pa.schema([rollup.schema(kind).field(name) for name in columns])
                return conform(file.read(columns=columns), wanted)
        except UNREADABLE as error:
            self.cannot_read(path, error)
            return None

    def _first_bad_seq(self, segment: Segment) -> int:
        stored = self._stored_rollup(segment, "steps", ["first_bad_seq"])
        if stored is None:
            return _first_bad_seq(self.segment_rows(segment, ["seq", "flags"]))
        seqs = stored["first_bad_seq"].to_numpy()
        return int(min(seqs[seqs >= 0], default=-1))

    def _bad_row(self, segment: Segment, seq: int) -> dict[str, Any] | None:
        if not segment.is_sealed:
            return _row_with_seq(self.segment_rows(segment, SCHEMAS["tensors"].names), seq)
        try:
            with open_sealed(segment) as file:
                groups = [
                    conform(file.read_row_group(group), SCHEMAS["tensors"])
                    for group in _groups_with(footer_of(segment.path), seq)
                ]
        except UNREADABLE as error:
            self.cannot_read(segment.path, error)
            return None
        return _row_with_seq(pa.concat_tables(groups), seq) if groups else None

    def cannot_read(self, path: Path, error: Exception) -> None:
        self._unreadable[path] = (
            f"{self.process.name}/{path.name} cannot be read and was left out ({reason_of(error)})."
        )


def _stopped_early(process: ProcessInfo, lost: int) -> str:
    unwritten = (process.end or {}).get("unwritten")
    missing = f"{lost + unwritten:,} events" if isinstance(unwritten, int) else "what came after"
    why = f"stopped recording before the program ended ({process.stopped})"
    return f"{process.name} {why}; {missing} could not be written."


def _first_bad_seq(rows: pa.Table) -> int:
    """-1 when no row is bad."""
    return int(min(rows["seq"].to_numpy()[is_bad_output(rows["flags"].to_numpy())], default=-1))


def _row_with_seq(rows: pa.Table, seq: int) -> dict[str, Any] | None:
    found = np.flatnonzero(is_bad_output(rows["flags"].to_numpy()) & (rows["seq"].to_numpy() == seq))
    return rows.slice(int(found[0]), 1).to_pylist()[0] if len(found) else None


def _groups_with(footer: Sequence[Group], seq: int) -> list[int]:
    """The row groups whose statistics allow for ``seq``."""
    found = [bounds(group, "seq", seq, seq) for group in footer]
    return [number for number, (least, greatest) in enumerate(found) if least <= seq <= greatest]
