"""Reads a trace's folder as tables of all its processes; nothing in a trace is ever run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow as pa

from tdbg.errors import TdbgError
from tdbg.store import rollup
from tdbg.store.format import SCHEMAS
from tdbg.store.plain_files import is_plain_file
from tdbg.store.process import ProcessInfo, check_version, find_processes
from tdbg.store.tables import ProcessTables

if TYPE_CHECKING:
    import duckdb

    from tdbg.store.pages import Pages
    from tdbg.store.tail import Cursor
    from tdbg.store.tensors import RawValue


class Trace:
    """Every call reads what is on disk at that moment, so a trace that is being written can be looked at.

    While a program writes, read ``tensors`` before ``ops`` (the order of ``format.SCHEMAS``): then whatever a row
    refers to is there.
    """

    def __init__(self, path: Path, processes: list[ProcessInfo]) -> None:
        self.path = path
        self._processes = [ProcessTables(process) for process in processes]
        self._value_rows: dict[int, pa.Table] = {}

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """TdbgError when there is no trace at ``path`` that this version can read."""
        path = Path(path)
        if not path.exists():
            raise TdbgError(f"There is no trace here; record one with: tdbg run -o {path.name} train.py  ({path})")
        if not path.is_dir():
            raise TdbgError(f"This is a file, but a trace is a folder such as run.tdbg: {path}")
        check_version(path)
        try:
            processes = find_processes(path, [])
        except OSError as error:
            raise TdbgError(f"The trace cannot be read: {error.strerror}; check who owns it: {path}") from error
        if not processes:
            raise TdbgError(f"This trace is empty: no process has written to it; record again with: tdbg run ({path})")
        return cls(path, processes)

    def another(self) -> Self:
        """A reader of its own of the same trace, for another thread. What is known of files that do not change is
        shared, so it opens at once."""
        found = type(self).open(self.path)
        known = {tables.process.name: tables.known for tables in self._processes}
        found._processes = [ProcessTables(process, known.get(process.name)) for process in found.processes]
        return found

    @property
    def processes(self) -> list[ProcessInfo]:
        """The writing processes as last looked at; their index is the ``process`` column of every table."""
        return [tables.process for tables in self._processes]

    def refresh(self) -> None:
        """Looks for processes that have joined or ended since; known ones keep their index."""
        known = {tables.process.name: tables for tables in self._processes}
        self._processes = [
            known.get(process.name) or ProcessTables(process) for process in find_processes(self.path, self.processes)
        ]

    def table(self, name: str, columns: Sequence[str] | None = None, process: int | None = None) -> pa.Table:
        """All rows of a table in the order written, process by process or of one alone, with the ``process`` column
        first."""
        schema = _schema_of(name)
        wanted = [column for column in columns or schema.names if column != "process"]
        unknown = set(wanted) - set(schema.names)
        if unknown:
            raise TdbgError(f"Table {name} has no column {min(unknown)}; it has {', '.join(schema.names)}.")
        parts = [
            _with_process(rows, tables.process.index)
            for tables in self._of(process)
            for rows in tables.read(name, wanted)
        ]
        if not parts:
            return _with_process(schema.empty_table().select(wanted), 0)
        return pa.concat_tables(parts)

    def row_count(self, name: str) -> int:
        """How many rows ``table`` would give, without reading the columns of sealed segments."""
        _schema_of(name)
        return sum(tables.count(name) for tables in self._processes)

    def pages(self, process: int) -> Pages:
        """The rows of ``tensors`` of one process by position, read as they are asked for."""
        from tdbg.store.pages import Pages

        return Pages(self._processes[process])

    def rollup(self, kind: str, process: int | None = None) -> pa.Table:
        """``ops``: per process, op and slot; ``steps``: per process and step. The columns are in ``rollup.FOLDS``."""
        if kind not in rollup.KEYS:
            raise ValueError(f"There is no rollup {kind!r}; the rollups are {', '.join(rollup.KEYS)}.")
        parts = [
            _with_process(part, tables.process.index) for tables in self._of(process) for part in tables.rollups(kind)
        ]
        return rollup.merge(parts, kind, also_by=["process"])

    def first_bad(self) -> dict[str, Any] | None:
        """The first row of ``tensors`` that holds a NaN or infinity: by ``seq`` in a process, by time among them."""
        found = [
            {"process": tables.process.index} | row
            for tables in self._processes
            if (row := tables.first_bad()) is not None
        ]
        return min(found, key=lambda row: (row["time"], row["process"]), default=None)

    def value(self, process: int, value_id: int) -> np.ndarray | RawValue:
        """A full tensor; TdbgError when it is not there or its bytes no longer match its hash."""
        from tdbg.store.tensors import read_value

        tables = self._processes[process]
        row = self._value_row(process, value_id)
        if row is None:
            raise TdbgError(f"Process {process} of this trace kept no value {value_id}; record with --mode full.")
        return read_value(tables.folder, row)

    def tail(self, cursor: Cursor | None = None) -> tuple[Cursor, dict[str, list[pa.RecordBatch]]]:
        """What was written since ``cursor`` (everything, when None), per table, and the cursor for the next call."""
        from tdbg.store.tail import read_new

        self.refresh()
        return read_new(self._processes, cursor)

    def connect(self) -> duckdb.DuckDBPyConnection:
        """The tables as views of DuckDB, as they are now; no other file can be read through it.

        Statements that a person typed go through ``sql.check_is_query`` first.
        """
        from tdbg.store.sql import connect

        return connect(self._processes)

    @property
    def problems(self) -> list[str]:
        """What could not be read or is missing, in sentences; empty when the trace is whole."""
        for process in self.processes:
            process.refresh()
        return [sentence for tables in self._processes for sentence in tables.problems()]

    def size_bytes(self) -> int:
        """Bytes of all files; those that a writer removes meanwhile do not count."""
        total = 0
        for path in self.path.rglob("*"):
            try:
                total += path.lstat().st_size if is_plain_file(path) else 0
            except OSError:
                continue
        return total

    def _of(self, process: int | None) -> list[ProcessTables]:
        return self._processes if process is None else self._processes[process : process + 1]

    def _value_row(self, process: int, value_id: int) -> dict[str, Any] | None:
        """Looked up in what was read last time first, and on disk once more when it is not there."""
        remembered = self._value_rows.get(process)
        row = None if remembered is None else _row_of_value(remembered, value_id)
        if row is None:
            parts = self._processes[process].read("values", SCHEMAS["values"].names)
            rows = pa.concat_tables(parts) if parts else SCHEMAS["values"].empty_table()
            self._value_rows[process] = rows
            row = _row_of_value(rows, value_id)
        return row


def _schema_of(name: str) -> pa.Schema:
    if name not in SCHEMAS:
        raise TdbgError(f"A trace has no table {name}; it has {', '.join(SCHEMAS)}.")
    return SCHEMAS[name]


def _row_of_value(rows: pa.Table, value_id: int) -> dict[str, Any] | None:
    found = np.flatnonzero(rows["value"].to_numpy() == value_id)
    return rows.slice(int(found[0]), 1).to_pylist()[0] if len(found) else None


def _with_process(rows: pa.Table, index: int) -> pa.Table:
    return rows.add_column(0, pa.field("process", pa.int32()), pa.repeat(pa.scalar(index, pa.int32()), rows.num_rows))
