"""Lists what was seen of tensors, in order; rows are read when they are asked for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol, overload

import numpy as np

from tdbg.model import NAMES, NUMBERS, DType, Flag, Summary, is_bad
from tdbg.scene import Seen, Tensors
from tdbg.store.pages import Pages

_BYTES = {kind: 8 if kind in (DType.FLOAT64, DType.COMPLEX64, DType.INT64, DType.UINT64)
          else 4 if kind in (DType.FLOAT32, DType.INT32, DType.UINT32)
          else 2 if kind in (DType.FLOAT16, DType.BFLOAT16, DType.INT16, DType.UINT16)
          else 16 if kind is DType.COMPLEX128 else 1 for kind in DType if kind.is_number}  # fmt: skip


class Order(Protocol):
    """Which rows a listing has, and in which order."""

    def __len__(self) -> int: ...

    def positions(self, places: np.ndarray) -> np.ndarray:
        """Gives the positions of the rows at these places of the listing."""

    def place_of(self, position: int) -> int | None:
        """Finds where a row stands in the listing; None when it is not in it."""

    def places_of(self, positions: np.ndarray) -> np.ndarray:
        """Finds the places of those rows that are in the listing, in no order."""


class Chosen:
    """Rows that were looked for."""

    def __init__(self, positions: np.ndarray) -> None:
        self._positions = positions

    def __len__(self) -> int:
        return len(self._positions)

    def positions(self, places: np.ndarray) -> np.ndarray:
        return self._positions[places]

    def place_of(self, position: int) -> int | None:
        found = np.flatnonzero(self._positions == position)
        return int(found[0]) if len(found) else None

    def places_of(self, positions: np.ndarray) -> np.ndarray:
        return np.flatnonzero(np.isin(self._positions, positions))


class Everything:
    """All rows but some, in the order of events. Pages follow each other, so only within a page rows are sorted."""

    def __init__(self, pages: Pages, without: np.ndarray) -> None:
        self._pages, self._without = pages, without
        firsts = np.array([page.first for page in pages.pages] + [len(pages)], np.int64)
        self._starts = firsts - np.searchsorted(without, firsts)
        self._order = lru_cache(8)(self.of_page)

    def __len__(self) -> int:
        return int(self._starts[-1]) if len(self._starts) else 0

    def positions(self, places: np.ndarray) -> np.ndarray:
        page = np.searchsorted(self._starts, places, "right") - 1
        found = np.empty(len(places), np.int64)
        for number in np.unique(page):
            here = page == number
            found[here] = self._order(int(number))[places[here] - self._starts[number]]
        return found

    def place_of(self, position: int) -> int | None:
        number = int(self._pages.pages_at(np.array([position]))[0])
        found = np.flatnonzero(self._order(number) == position)
        return int(self._starts[number] + found[0]) if len(found) else None

    def places_of(self, positions: np.ndarray) -> np.ndarray:
        """Finds the places of rows, roughly: within a page, rows are counted as they lie."""
        positions = np.sort(positions[~np.isin(positions, self._without)])
        return positions - np.searchsorted(self._without, positions)

    def of_page(self, number: int) -> np.ndarray:
        """Gives the rows of a page in their order."""
        page = self._pages.pages[number]
        seqs = self._pages.part_of_column("seq", number)
        is_rising = bool(np.all(seqs[1:] >= seqs[:-1]))
        order = (np.arange(page.rows) if is_rising else np.argsort(seqs, kind="stable")) + page.first
        first, last = np.searchsorted(self._without, [page.first, page.first + page.rows])
        return order[~np.isin(order, self._without[first:last])] if last > first else order


class LateSeen(Seen):
    """What was seen, in a whole trace: counting takes a look at all rows there, so ``number`` is counted when it is
    asked for."""

    __slots__ = ("_counting",)
    _counting: Callable[[], int]

    @property
    def number(self) -> int:
        return self._counting()

    @number.setter
    def number(self, counting: Any) -> None:
        object.__setattr__(self, "_counting", counting if callable(counting) else lambda: counting)


Maker = Callable[[np.ndarray], list[Seen]]


class RowTensors(Tensors):
    """The tensors of a listing. ``make`` makes them of the rows at some positions."""

    def __init__(self, order: Order, make: Maker, total: int, notes: Sequence[str], is_reversed: bool = False) -> None:
        self._order, self._make = order, make
        self.total, self.notes = total, notes
        self._is_reversed = is_reversed

    def __len__(self) -> int:
        return len(self._order)

    @overload
    def __getitem__(self, place: int) -> Seen: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Seen]: ...

    def __getitem__(self, place: int | slice) -> Seen | Sequence[Seen]:
        if isinstance(place, int | np.integer):
            at = range(len(self))[place]
            return self._read(np.array([at]))[0]
        places = range(len(self))[place]
        return self._read(np.arange(places.start, places.stop, places.step))

    def __iter__(self) -> Any:
        for first in range(0, len(self), 4096):
            yield from self[first : first + 4096]

    def _read(self, places: np.ndarray) -> list[Seen]:
        if self._is_reversed:
            places = len(self) - 1 - places
        return self._make(self._order.positions(places)) if len(places) else []


def size_of(elements: int, dtype: int) -> int | None:
    width = _BYTES.get(dtype)  # type: ignore[call-overload]
    return elements * width if width and elements >= 0 else None


def sizes_of(elements: np.ndarray, dtypes: np.ndarray) -> np.ndarray:
    """Gives the size of each tensor in bytes; -1 where it is not known."""
    widths = np.zeros(256, np.int64)
    for kind, width in _BYTES.items():
        widths[int(kind)] = width
    found = elements * widths[dtypes]
    return np.where((found < 0) | (widths[dtypes] == 0), -1, found)


def summary_of(row: dict[str, Any]) -> Summary | None:
    """Makes the summary of a row; None where numbers are missing. An older tdbg measured fewer: a count that it
    lacks is -1, a statistic NaN."""
    values = [row[name] for name in NAMES]
    if row["flags"] & Flag.NUMBERS:
        nothing = [-1 if number.is_count else math.nan for number in NUMBERS]
        values = [none if value is None else value for value, none in zip(values, nothing, strict=True)]
    return None if any(value is None for value in values) else Summary(*values)


def badness(flags: int, dtype: int, was_looked_at: bool) -> bool | None:
    """Whether it is bad; None where nobody has looked."""
    if is_bad(flags):
        return True
    kind = DType(dtype) if dtype in DType._value2member_map_ else DType.UNKNOWN
    if not kind.is_floating and kind is not DType.UNKNOWN:
        return False
    return False if was_looked_at or flags & Flag.NUMBERS else None
