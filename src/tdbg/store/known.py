"""Keeps what was found out of one process's files, for all who read them at once.

A sealed file never changes, so whether it is whole, how many rows it has and what its rollup says is found out once.
The small tables are never sealed: they only grow, and what was read of them is kept.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa

from tdbg.store import rollup
from tdbg.store.completion import completed
from tdbg.store.format import SCHEMAS
from tdbg.store.segments import HotState, Segment, matches_checksum, read_hot
from tdbg.store.side_by_side import side_by_side
from tdbg.store.soundness import check_sealed_file, sound_rows

_MOST_CHUNKS = 64  # of a small table; each costs as much as many rows


class Known:
    """Several threads may ask."""

    def __init__(self) -> None:
        self.sealed_rows: dict[Path, int] = {}
        self._is_intact: dict[Path, bool] = {}
        self._rollups: dict[str, tuple[frozenset[Path], pa.Table]] = {}
        self._small: dict[Path, tuple[HotState, pa.Table]] = {}
        self._lock, self._looking = threading.RLock(), threading.Lock()

    def is_intact(self, segment: Segment) -> bool:
        """Whether a sealed file is bit for bit what was written. OSError or ValueError when it cannot be read."""
        found = self._is_intact.get(segment.path)
        if found is None:
            check_sealed_file(segment.path)
            found = self._is_intact[segment.path] = matches_checksum(segment)
        return found

    def look_at(self, segments: Sequence[Segment]) -> None:
        """Finds out side by side whether they are intact."""
        with self._looking:  # who comes second has it from the first
            new = [segment for segment in segments if segment.path not in self._is_intact]
            if len(new) > 1:
                side_by_side(self._try, new)

    def _try(self, segment: Segment) -> None:
        try:
            self.is_intact(segment)
        except (OSError, ValueError):  # whoever needs it is told
            return

    def rollup(self, kind: str, segments: Sequence[Segment], make: Callable[[Segment], pa.Table]) -> pa.Table:
        """Of sealed segments together; those that are new are read."""
        with self._lock:
            wanted = frozenset(segment.path for segment in segments)
            seen, together = self._rollups.get(kind, (frozenset[Path](), None))
            if not seen <= wanted:
                seen, together = frozenset[Path](), None
            parts = [make(segment) for segment in segments if segment.path not in seen]
            if parts or together is None:
                together = rollup.merge([*([together] if together is not None else []), *parts], kind)
                self._rollups[kind] = wanted, together
            return together

    def small_rows(self, segment: Segment) -> tuple[HotState, pa.Table]:
        """Of a table that is never sealed; reads what has been added since. FileNotFoundError when it is gone."""
        with self._lock:
            state, rows = self._small.get(segment.path, (HotState(), SCHEMAS[segment.table].empty_table()))
            if os.lstat(segment.path).st_size < state.end:  # it is another file
                state, rows = HotState(), SCHEMAS[segment.table].empty_table()
            new = list(read_hot(segment, state))
            if new:
                rows = pa.concat_tables([rows, completed(segment.table, pa.Table.from_batches(new, rows.schema))])
                rows = rows.combine_chunks() if rows.column(0).num_chunks > _MOST_CHUNKS else rows
                rows, unsound = sound_rows(segment.table, rows)
                state.unsound += unsound
            self._small[segment.path] = state, rows
            return state, rows
