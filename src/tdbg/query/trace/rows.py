"""A trace in; tensor rows as small records, chosen by SQL over the whole trace, out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.model import BAD_OUTPUT_SQL, NAMES, DType, Flag, Numbers, bad_text, is_bad
from tdbg.store.reader import Trace
from tdbg.store.sql import record_batches

_MOST_EXECUTIONS = 4  # whose rows are remembered
_BATCH = 1 << 19  # rows


@dataclass(frozen=True, slots=True)
class Row(Numbers[int | None, float | None]):
    """One tensor event; the numbers are None where the mode did not measure them."""

    seq: int
    step: int
    execution: int
    op: int
    slot: int
    iteration: int
    dtype: int
    shape: int
    flags: int
    tensor: int
    value: int

    @property
    def is_bad(self) -> bool:
        return bool(is_bad(self.flags))

    @property
    def is_input(self) -> bool:
        return bool(self.flags & Flag.INPUT)

    @property
    def label(self) -> str:
        return DType(self.dtype).label

    def looks_like(self, other: Row) -> bool:
        """Whether all that is known of two tensors is the same."""
        return all(getattr(self, name) == getattr(other, name) or _are_nan(self, other, name) for name in _CONTENT)

    def bad_text(self) -> str:
        """``-inf ×3 of 128``"""
        if self.nan is None:
            return f"NaN or infinity among {self.elements:,}" if self.elements >= 0 else "NaN or infinity"
        return f"{bad_text(self.nan, self.neg_inf, self.pos_inf)} of {self.elements:,}"


ROW_COLUMNS = tuple(one.name for one in fields(Row))
_CONTENT = ("is_bad", *(name for name in NAMES if name != "std"))


def _are_nan(one: Row, other: Row, name: str) -> bool:
    values = getattr(one, name), getattr(other, name)
    return all(value is not None and value != value for value in values)


class Rows:
    """Queries over ``tensors`` and ``executions`` of one trace."""

    def __init__(self, trace: Trace) -> None:
        self._trace = trace
        self._db = Trace.connect(trace)  # the stored tables only
        self._executions: dict[tuple[int, int], dict[tuple[int, int], list[Row]]] = {}

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
        """SQL for: an output that holds a NaN or an infinity. The least event lets the engine pass over the rows
        before it, which in a long run are most."""
        return f"process = {process} AND seq >= {self.first_bad.get(process, 1 << 62)} AND {BAD_OUTPUT_SQL}"

    def query(self, sql: str, parameters: list[Any] | None = None) -> list[tuple]:
        return self._db.execute(sql, parameters or []).fetchall()

    def select(self, process: int, where: str, parameters: list[Any] | None = None, tail: str = "") -> list[Row]:
        sql = f"SELECT {', '.join(ROW_COLUMNS)} FROM tensors WHERE process = {process} AND ({where}) {tail}"
        return [Row(*values) for values in self.query(sql, parameters)]

    def select_any(self, process: int, alternatives: Sequence[str], also: str = "true", most: int = -1) -> list[Row]:
        """Rows for which one of several conditions holds, in the order of events. Each is asked on its own: the engine
        skips row groups by statistics for one condition, but not for several with OR."""
        tail = "ORDER BY seq" + (f" LIMIT {most}" if most >= 0 else "")
        found = {
            row.seq: row for one in alternatives for row in self.select(process, f"({one}) AND {also}", None, tail)
        }
        return [found[seq] for seq in sorted(found)][: most if most >= 0 else None]

    def of_execution(self, process: int, execution: int) -> dict[tuple[int, int], list[Row]]:
        """The outputs of one execution by (op, slot), in the order of events; the last few asked for are remembered."""
        key = (process, execution)
        if key not in self._executions:
            found: dict[tuple[int, int], list[Row]] = defaultdict(list)
            where = f"execution = {execution} AND flags & {int(Flag.EVIDENCE)} = 0"
            for row in self.select(process, where, None, "ORDER BY seq"):
                found[row.op, row.slot].append(row)
            while len(self._executions) >= _MOST_EXECUTIONS:
                self._executions.pop(next(iter(self._executions)))
            self._executions[key] = found
        return self._executions[key]

    def numbers(self, sql: str, parameters: list[Any] | None = None) -> np.ndarray:
        """The one column that a query gives."""
        (column,) = self._db.execute(sql, parameters or []).fetchnumpy().values()
        return _filled(column)

    def number_batches(self, sql: str, parameters: list[Any] | None = None) -> Iterator[np.ndarray]:
        """The same a batch at a time, for what may be as long as the trace."""
        for batch in record_batches(self._db, sql, parameters or [], _BATCH):
            yield batch.column(0).to_numpy(zero_copy_only=False)

    def arrays(self, sql: str) -> dict[str, np.ndarray]:
        """Columns as arrays, for what is too much for records; a missing number is 0, or NaN where that exists."""
        columns = self._db.execute(sql).fetchnumpy()
        return {name: _filled(column) for name, column in columns.items()}


def _filled(column: np.ndarray) -> np.ndarray:
    if not isinstance(column, np.ma.MaskedArray):
        return column
    return column.filled(np.nan if column.dtype.kind == "f" else 0)
