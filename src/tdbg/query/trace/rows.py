"""Reads rows of tensors: as small records, or as columns, chosen by SQL over the whole trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.model import BAD_OUTPUT_SQL, Flag
from tdbg.query.trace.calls import Calls
from tdbg.query.trace.row import ROW_COLUMNS, Row
from tdbg.query.trace.trace import Trace
from tdbg.store.sql import record_batches

__all__ = ["OUTPUT", "SEEN", "Row", "Rows"]

_MOST_EXECUTIONS = 4  # whose rows are remembered
_BATCH = 1 << 19  # rows

# SQL for: a tensor of the program, not a copy of an input that was kept as evidence; and no input that was given to it.
SEEN = f"flags & {int(Flag.EVIDENCE)} = 0"
OUTPUT = f"flags & {int(Flag.EVIDENCE | Flag.INPUT)} = 0"


class Rows:
    """Queries over the tables of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._db = trace.connect(alerts=False)
        self._executions: dict[tuple[int, int], dict[tuple[int, int], list[Row]]] = {}
        self._calls: dict[int, Calls] = {}

    def calls(self, process: int) -> Calls:
        """Gives what tells of a process's eager ops and calls what they were given and gave."""
        return self._calls.setdefault(process, Calls(self, process))

    @cached_property
    def ops(self) -> pa.Table:
        """The rollup of all outputs: what can be read off it needs no look at the rows."""
        return self._trace.rollup("ops")

    @cached_property
    def first_bad(self) -> dict[int, int]:
        """The first event with a bad value of each process that has one."""
        found: dict[int, int] = {}
        for process, seq in zip(self.ops["process"].to_pylist(), self.ops["first_bad_seq"].to_pylist(), strict=True):
            if seq >= 0:
                found[process] = min(seq, found.get(process, seq))
        return found

    def is_bad(self, process: int) -> str:
        """Gives SQL for: an output that holds a NaN or an infinity. The least event lets the engine pass over the rows
        before it, which in a long run are most."""
        return f"process = {process} AND seq >= {self.first_bad.get(process, 1 << 62)} AND {BAD_OUTPUT_SQL}"

    def query(self, sql: str, parameters: list[Any] | None = None) -> list[tuple]:
        return self._db.execute(sql, parameters or []).fetchall()

    def select(self, process: int, where: str, parameters: list[Any] | None = None, tail: str = "") -> list[Row]:
        sql = f"SELECT {', '.join(ROW_COLUMNS)} FROM tensors WHERE process = {process} AND ({where}) {tail}"
        return [Row(*values) for values in self.query(sql, parameters)]

    def select_any(self, process: int, alternatives: Sequence[str], also: str = "true", most: int = -1) -> list[Row]:
        """Reads rows for which one of several conditions holds, in the order of events. Each is asked on its own: the
        engine skips row groups by statistics for one condition, but not for several with OR."""
        tail = "ORDER BY seq" + (f" LIMIT {most}" if most >= 0 else "")
        found = {
            row.seq: row for one in alternatives for row in self.select(process, f"({one}) AND {also}", None, tail)
        }
        return [found[seq] for seq in sorted(found)][: most if most >= 0 else None]

    def of_execution(self, process: int, execution: int) -> dict[tuple[int, int], list[Row]]:
        """Reads the outputs of one execution by (op, slot), in the order of events; the last few asked for are
        remembered."""
        key = (process, execution)
        if key not in self._executions:
            found: dict[tuple[int, int], list[Row]] = defaultdict(list)
            where = f"execution = {execution} AND {SEEN}"
            for row in self.select(process, where, None, "ORDER BY seq"):
                found[row.op, row.slot].append(row)
            while len(self._executions) >= _MOST_EXECUTIONS:
                self._executions.pop(next(iter(self._executions)))
            self._executions[key] = found
        return self._executions[key]

    # ---- what is asked of all rows

    def count(self) -> int:
        """Counts the tensors that were seen, in all processes."""
        return int(self.query(f"SELECT count(*) FROM tensors WHERE {SEEN}")[0][0])

    def count_before(self, process: int, op: int, row: Row) -> int:
        """Counts how often an op gave, or was given, the tensor of a row before that row."""
        found = self.query(
            f"SELECT count(*) FROM tensors WHERE process = {process} AND op = ? AND slot = ? AND seq < ? "
            f"AND flags & {int(Flag.EVIDENCE | Flag.INPUT)} = {row.flags & int(Flag.INPUT)}",
            [op, row.slot, row.seq],
        )
        return int(found[0][0])

    def first_bad_seqs(self, process: int) -> set[int]:
        """Finds, for each output that was ever bad, the first event in which it was, and the first with a NaN."""
        found = self.query(
            "SELECT min(seq), min(seq) FILTER (nan > 0 OR nan IS NULL) FROM tensors "
            f"WHERE {self.is_bad(process)} GROUP BY op, slot"
        )
        return {seq for pair in found for seq in pair if seq is not None}

    def bad_ops(self, process: int, since: int) -> list[tuple[int, int, int, int]]:
        """Finds the ops that gave bad values from an event on: (op, first step, fewest elements, first event)."""
        return self.query(
            f"SELECT op, min(step), min(elements), min(seq) FROM tensors WHERE seq >= {since} "
            f"AND {self.is_bad(process)} GROUP BY op"
        )

    def bad_executions(self, process: int, harmless: Collection[int], harm_begins: int) -> list[tuple[int, int, int]]:
        """Counts by execution the tensors with bad values, and those among them that are of harmless ops, or before
        harm began."""
        return self.query(
            "SELECT execution, count(*), count(*) FILTER (op IN (SELECT unnest(?::INTEGER[])) "
            f"OR seq < {harm_begins}) FROM tensors WHERE {self.is_bad(process)} GROUP BY 1",
            [sorted(harmless)],
        )

    def ran(self, process: int, ops: Collection[int], executions: Collection[int]) -> set[tuple[int, int]]:
        """Tells which of these ops gave something in which of these executions: (op, execution)."""
        if not ops:
            return set()
        found = self.query(
            f"SELECT DISTINCT op, execution FROM tensors WHERE process = {process} AND op IN ({_listed(ops)}) "
            f"AND execution IN ({_listed(executions)})"
        )
        return {(op, execution) for op, execution in found}

    def seen_before(self, process: int, events: Mapping[int, int]) -> set[int]:
        """Finds the ops that gave something before an event; ``events``: before which, by op."""
        pairs = ", ".join(f"({op}, {seq})" for op, seq in events.items())
        if not pairs:
            return set()
        found = self.query(
            f"SELECT DISTINCT t.op FROM tensors t JOIN (VALUES {pairs}) AS f(op, seq) "
            f"ON t.op = f.op AND t.seq < f.seq WHERE t.process = {process}"
        )
        return {op for (op,) in found}

    def largest(self, process: int, ops: Sequence[int], before: int) -> float:
        """Finds the largest magnitude that any of these ops gave before an event; 0.0 where none was recorded."""
        found = self.query(
            "SELECT max(greatest(abs(min), abs(max))) FROM tensors WHERE "
            f"process = {process} AND seq < {before} AND isfinite(min) AND op IN (SELECT unnest(?))",
            [list(ops)],
        )
        return float(found[0][0] or 0.0)

    # ---- columns

    def numbers(self, sql: str, parameters: list[Any] | None = None) -> np.ndarray:
        """Runs a query that gives one column."""
        (column,) = self._db.execute(sql, parameters or []).fetchnumpy().values()
        return _filled(column)

    def number_batches(self, sql: str, parameters: list[Any] | None = None) -> Iterator[np.ndarray]:
        """Does the same a batch at a time, for what may be as long as the trace."""
        for batch in record_batches(self._db, sql, parameters or [], _BATCH):
            yield batch.column(0).to_numpy(zero_copy_only=False)

    def arrays(self, sql: str) -> dict[str, np.ndarray]:
        """Runs a query for what is too much for records; a missing number is 0, or NaN where that exists."""
        columns = self._db.execute(sql).fetchnumpy()
        return {name: _filled(column) for name, column in columns.items()}


def _listed(numbers: Collection[int]) -> str:
    return ", ".join(map(str, numbers))


def _filled(column: np.ndarray) -> np.ndarray:
    if not isinstance(column, np.ma.MaskedArray):
        return column
    return column.filled(np.nan if column.dtype.kind == "f" else 0)
