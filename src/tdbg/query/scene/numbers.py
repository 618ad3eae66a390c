"""Counts, for each row, how often a tensor of the same name was seen before it."""

from __future__ import annotations

from functools import cached_property, lru_cache

import numpy as np
import pyarrow as pa

from tdbg.model import Flag
from tdbg.query.scene.ops import Ops
from tdbg.store.pages import Pages

COLUMNS = ("op", "slot", "flags")


class Names:
    """Numbers the names of tensors: all rows that ``name:slot`` means get the same number."""

    def __init__(self, ops: Ops) -> None:
        ids: dict[str, int] = {}
        self._known = ops.known
        self._ids = np.full(ops.size, -1, np.int64)
        self._ids[ops.numbers] = [ids.setdefault(name, len(ids)) for name in ops.shown]
        self._is_eager = np.zeros(len(self._ids), bool)
        self._is_eager[ops.numbers] = ops.graphs < 0

    def of(self, rows: pa.Table) -> np.ndarray:
        """Gives each row the number of its name; -1 to rows that are no tensors of their own."""
        op, slot, flags = (rows[name].to_numpy() for name in COLUMNS)
        op = self._known(op)
        is_input = self._is_eager[op] & ((flags & int(Flag.INPUT)) != 0)
        keys = (self._ids[op] << 17) | (slot.astype(np.int64) << 1) | is_input
        return np.where((flags & int(Flag.EVIDENCE)) == 0, keys, -1)


def counted(keys: np.ndarray) -> np.ndarray:
    """Counts how many equal keys come before each."""
    order = np.argsort(keys, kind="stable")
    is_new = np.ones(len(keys), bool)
    is_new[1:] = keys[order][1:] != keys[order][:-1]
    starts = np.flatnonzero(is_new)
    found = np.empty(len(keys), np.int64)
    found[order] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.append(starts, len(keys))))
    return found


class NumbersOfSome:
    """Counts among given rows, which are in the order of events."""

    def __init__(self, pages: Pages, names: Names, positions: np.ndarray) -> None:
        keys = names.of(pa.table({name: pages.cells(name, positions) for name in COLUMNS}))
        order = np.argsort(positions)
        self._positions, self._numbers = positions[order], counted(keys)[order]

    def of(self, positions: np.ndarray) -> np.ndarray:
        return self._numbers[np.searchsorted(self._positions, positions)]


class NumbersOfAll:
    """Counts among all rows: up to each page at once, and within a page when it is asked for."""

    def __init__(self, pages: Pages, names: Names) -> None:
        self._pages, self._names = pages, names
        self._within = lru_cache(8)(self._of_page)

    @cached_property
    def _before(self) -> tuple[np.ndarray, np.ndarray]:
        """All names, sorted, and how often each was seen before each page."""
        counts = self._pages.map(lambda rows: np.unique(self._names.of(rows), return_counts=True), COLUMNS)
        known = np.unique(np.concatenate([keys for keys, _ in counts])) if counts else np.empty(0, np.int64)
        before = np.zeros((len(counts) + 1, len(known)), np.int32)
        for number, (keys, found) in enumerate(counts):
            before[number + 1] = before[number]
            before[number + 1][np.searchsorted(known, keys)] += found.astype(np.int32)
        return known, before

    def _of_page(self, number: int) -> np.ndarray:
        keys = self._names.of(pa.table({name: self._pages.part_of_column(name, number) for name in COLUMNS}))
        order = np.argsort(self._pages.part_of_column("seq", number), kind="stable")
        found = np.empty(len(keys), np.int64)
        found[order] = counted(keys[order])
        if number == 0:
            return found  # nothing was seen before: what is looked at first is there first
        known, before = self._before
        return found + before[number][np.searchsorted(known, keys)]

    def of(self, positions: np.ndarray) -> np.ndarray:
        found = np.empty(len(positions), np.int64)
        page = self._pages.pages_at(positions)
        for number in np.unique(page).tolist():
            here = page == number
            found[here] = self._within(number)[positions[here] - self._pages.pages[number].first]
        return found
