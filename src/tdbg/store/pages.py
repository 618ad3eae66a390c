"""Reads the rows of one process's ``tensors`` by position, a page or a column at a time.

A position counts the rows in the order they were written, and stays the row's own while the program goes on writing:
segments are sealed in the order of their rows. So a listing of ten million rows need not be in memory.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.store.footer import Group, bounds
from tdbg.store.format import NUMBER_COLUMNS, SCHEMAS
from tdbg.store.segments import UNREADABLE, Segment, columns_of, footer_of, open_sealed
from tdbg.store.side_by_side import side_by_side
from tdbg.store.soundness import conform
from tdbg.store.tables import ProcessTables

_MOST_PARTS = 16  # columns of pages that are remembered, of at most 0.5 MB each
_MOST_OPEN = 12  # files
_MOST_PAGES = 12  # of which a column is read page by page
_BLOCK = 4096  # rows that are read together, for those beside them are wanted next
_MOST_BLOCKS = 16  # that are remembered, of about 0.6 MB each
_FEW_BLOCKS = 3  # rows in more of them are scattered: nothing is remembered of what is around them
_MANY = 1 << 18  # rows of which a column is better read whole
_MOST_SEQ, _MOST_FLAGS = (1 << 63) - 1, (1 << 16) - 1
_LOST = {"op": -1, "step": -2, "execution": -2, "seq": -1, "shape": -1, "elements": -1, "value": -1}


@dataclass(frozen=True, slots=True)
class Page:
    """Rows that are read together: a row group, or what is in memory. The bounds hold for all of its rows."""

    first: int
    rows: int
    least_seq: int
    greatest_seq: int
    flags: int  # none of its rows has greater ones
    segment: Segment | None = None  # None: in memory
    group: int = 0
    table: pa.Table | None = None


class Pages:
    """Pages are read when they are asked for; of a page that is damaged the rows have op -1."""

    def __init__(self, tables: ProcessTables) -> None:
        self._tables = tables
        self.pages: list[Page] = []
        self._columns: dict[str, np.ndarray] = {}
        self._block = lru_cache(_MOST_BLOCKS)(self._read_block)
        self._part = lru_cache(_MOST_PARTS)(self._read_part)
        self._open = lru_cache(_MOST_OPEN)(open_sealed)
        self._lock = threading.Lock()
        self.damaged: set[str] = set()
        self.refresh()

    def __len__(self) -> int:
        return self.pages[-1].first + self.pages[-1].rows if self.pages else 0

    def refresh(self) -> bool:
        """Looks at what is on disk now; True when there are more rows, or others."""
        before = len(self)
        sealed = {page.segment: True for page in self.pages if page.segment is not None}
        kept = [page for page in self.pages if page.segment is not None]
        had_more = any(page.segment is None and page.group < 0 for page in self.pages)
        pages = list(kept)
        for segment in self._tables.segments("tensors"):
            if segment not in sealed:
                pages += self._pages_of(segment, _end(pages))
        for rows in self._tables.extra("tensors"):
            pages.append(_in_memory(rows, _end(pages), -1))
        changed = _end(pages) != before or had_more
        self.pages = pages
        if had_more or _end(pages) < before:
            self._columns.clear()
        if changed:
            self._block.cache_clear()
            self._part.cache_clear()
        return changed

    def _pages_of(self, segment: Segment, first: int) -> list[Page]:
        if segment.is_sealed:
            try:
                with open_sealed(segment) as file:
                    return _row_groups(segment, file.metadata, footer_of(segment.path), first)
            except UNREADABLE as error:
                self._tables.cannot_read(segment.path, error)
                return []
        rows = self._tables.segment_rows(segment, SCHEMAS["tensors"].names)
        return [_in_memory(rows, first, 0)] if len(rows) else []

    def pages_at(self, positions: np.ndarray) -> np.ndarray:
        """The numbers of the pages that rows are on."""
        return np.searchsorted(np.array([page.first for page in self.pages]), positions, "right") - 1

    def with_seq(self, least: int, greatest: int) -> list[int]:
        """The numbers of the pages that may hold events of this range."""
        return [n for n, page in enumerate(self.pages) if page.least_seq <= greatest and page.greatest_seq >= least]

    def rows(self, positions: np.ndarray) -> pa.Table:
        """Some rows, in the order asked for."""
        if not len(positions):
            return SCHEMAS["tensors"].empty_table()
        of = self.pages_at(positions)
        within = positions - np.array([page.first for page in self.pages])[of]
        blocks = np.unique(np.stack([of, within // _BLOCK]), axis=1).T.tolist()
        if len(blocks) <= _FEW_BLOCKS:
            here = [(of == number) & (within // _BLOCK == block) for number, block in blocks]
            parts = [
                _in_order(self._block(number, block), within[chosen] - block * _BLOCK)
                for (number, block), chosen in zip(blocks, here, strict=True)
            ]
        else:
            numbers = np.unique(of).tolist()
            here = [of == number for number in numbers]
            wanted = {self.pages[number].first: within[chosen] for number, chosen in zip(numbers, here, strict=True)}
            pages = [self.pages[number] for number in numbers]
            parts = self._on_all(lambda page, file: self._taken(page, wanted[page.first], file), pages)
        if len(parts) == 1:
            return parts[0]
        places = np.empty(len(positions), np.int64)
        places[np.concatenate([np.flatnonzero(chosen) for chosen in here])] = np.arange(len(positions))
        return _in_order(pa.concat_tables(parts), places)

    def map(self, function: Callable[[pa.Table], Any], columns: Sequence[str]) -> list[Any]:
        """What a function makes of some columns of each page."""
        return self._on_all(lambda page, file: function(self._of_page(page, columns, file)), self.pages)

    def column(self, name: str) -> np.ndarray:
        """A column of whole numbers of all rows; what was read once is kept."""
        known = self._columns.get(name)
        if known is None or len(known) < len(self):
            done = 0 if known is None else len(known)
            new = self._column_from(name, done)
            known = self._columns[name] = new if known is None else np.concatenate([known, new])
        return known

    def cells(self, name: str, positions: np.ndarray) -> np.ndarray:
        """A column of some rows, in the order asked for."""
        known = self._columns.get(name)
        if len(positions) > _MANY or (known is not None and len(known) == len(self)):
            return self.column(name)[positions]
        touched = np.unique(self.pages_at(positions))
        if len(touched) > _MOST_PAGES:
            return self.column(name)[positions]
        found = np.empty(len(positions), _dtype(name))
        for number in touched.tolist():
            page = self.pages[number]
            here = (positions >= page.first) & (positions < page.first + page.rows)
            found[here] = self.part_of_column(name, number)[positions[here] - page.first]
        return found

    def scan(self, name: str, positions: np.ndarray | None = None) -> np.ndarray:
        """The same as ``cells``, of all rows where none are named; nothing is kept, so it may be a large column."""
        kind = SCHEMAS["tensors"].field(name).type.to_pandas_dtype()
        if positions is None:
            parts = self._on_all(lambda page, file: self._of_page(page, [name], file)[name].to_numpy(), self.pages)
            return np.concatenate(parts) if parts else np.empty(0, kind)
        order = None if np.all(positions[1:] >= positions[:-1]) else np.argsort(positions, kind="stable")
        rising = positions if order is None else positions[order]
        ends = np.searchsorted(rising, [page.first + page.rows for page in self.pages])
        found, done = [np.empty(0, kind)], 0
        for number, end in enumerate(ends.tolist()):
            if end > done:
                page = self.pages[number]
                found.append(self._of_page(page, [name])[name].to_numpy()[rising[done:end] - page.first])
            done = end
        cells = np.concatenate(found)
        if order is None:
            return cells
        placed = np.empty_like(cells)
        placed[order] = cells
        return placed

    def part_of_column(self, name: str, number: int) -> np.ndarray:
        """The same of one page."""
        page = self.pages[number]
        if name in self._columns and len(self._columns[name]) >= page.first + page.rows:
            return self._columns[name][page.first : page.first + page.rows]
        return self._part(number, name)

    def _column_from(self, name: str, done: int) -> np.ndarray:
        wanted = [page for page in self.pages if page.first + page.rows > done]
        if not wanted:
            return np.empty(0, _dtype(name))
        parts = self._on_all(lambda page, file: self._of_page(page, [name], file)[name].to_numpy(), wanted)
        return np.concatenate([parts[0][max(0, done - wanted[0].first) :], *parts[1:]])

    def _on_all(self, function: Callable[[Page, Any], Any], pages: Sequence[Page]) -> list[Any]:
        """Segments are read side by side; an open file is for one thread only."""

        def of_segment(together: list[Page]) -> list[Any]:
            with contextlib.ExitStack() as stack:
                segment = together[0].segment
                file = None
                with contextlib.suppress(*UNREADABLE):
                    file = stack.enter_context(open_sealed(segment)) if segment is not None else None
                return [function(page, file) for page in together]

        groups = [list(group) for _, group in itertools.groupby(pages, lambda page: page.segment)]
        if len(groups) == 1:
            return of_segment(groups[0])
        return [found for part in side_by_side(of_segment, groups) for found in part]

    def _read_part(self, number: int, name: str) -> np.ndarray:
        return self._of_page(self.pages[number], [name])[name].to_numpy()

    def _read_block(self, number: int, block: int) -> pa.Table:
        page = self.pages[number]
        return self._taken(page, np.arange(block * _BLOCK, min(page.rows, (block + 1) * _BLOCK)))

    def _taken(self, page: Page, within: np.ndarray, file: Any = None) -> pa.Table:
        """Some rows of a page, a column at a time: a page with all its columns is large, and new memory is slow."""
        schema = SCHEMAS["tensors"]
        columns = [_in_order(self._of_page(page, [name], file), within)[name] for name in schema.names]
        return pa.Table.from_arrays(columns, schema=schema)

    def _of_page(self, page: Page, columns: Sequence[str], file: Any = None) -> pa.Table:
        if page.table is not None:
            return page.table.select(columns)
        segment = page.segment
        assert segment is not None
        wanted = columns_of("tensors", columns)
        try:
            if self._tables.is_sound(segment):
                if file is not None:
                    return conform(file.read_row_group(page.group, columns=list(columns), use_threads=False), wanted)
                with self._lock:
                    return conform(
                        self._open(segment).read_row_group(page.group, list(columns), use_threads=False), wanted
                    )
        except UNREADABLE as error:
            self._tables.cannot_read(segment.path, error)
        self.damaged.add(segment.path.name)
        return _lost(page.rows, wanted)


def _end(pages: Sequence[Page]) -> int:
    return pages[-1].first + pages[-1].rows if pages else 0


def _in_order(rows: pa.Table, places: np.ndarray) -> pa.Table:
    """Rows in the order asked for, in memory of their own. A run of them goes through Arrow's stream format: ``take``
    is part of ``pyarrow.compute``, and the first screen would wait for that to load."""
    if (np.diff(places) != 1).any():
        return rows.take(pa.array(places))
    with pa.BufferOutputStream() as buffer:
        with pa.ipc.new_stream(buffer, rows.schema) as stream:
            stream.write_table(rows.slice(places[0], len(places)))
        return pa.ipc.open_stream(buffer.getvalue()).read_all()


def _row_groups(segment: Segment, metadata: Any, footer: Sequence[Group], first: int) -> list[Page]:
    pages = []
    for number, group in enumerate(footer):
        rows = metadata.row_group(number).num_rows
        least, greatest = bounds(group, "seq", -1, _MOST_SEQ)
        most_flags = bounds(group, "flags", 0, _MOST_FLAGS)[1]
        pages.append(Page(first, rows, least, greatest, most_flags, segment, number))
        first += rows
    return pages


def _in_memory(rows: pa.Table, first: int, group: int) -> Page:
    seq, flags = rows["seq"].to_numpy(), rows["flags"].to_numpy()
    table = rows.combine_chunks()
    return Page(first, len(rows), int(seq.min()), int(seq.max()), int(flags.max()), None, group, table)


def _lost(rows: int, wanted: pa.Schema) -> pa.Table:
    arrays = [
        pa.nulls(rows, of.type)
        if of.name in NUMBER_COLUMNS
        else pa.repeat(pa.scalar(_LOST.get(of.name, 0), of.type), rows)
        for of in wanted
    ]
    return pa.Table.from_arrays(arrays, schema=wanted)


def _dtype(name: str) -> np.dtype:
    """Of a column; older pyarrows want pandas for the direct way."""
    return pa.array([], SCHEMAS["tensors"].field(name).type).to_numpy().dtype
