"""Rows and a key of each in; an order of them out, of which only as much is sorted as somebody looks at.

Whoever sorts ten million rows looks at the first few. So those are found in one pass that keeps the best so far; all of
them are sorted when somebody scrolls beyond.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property

import numpy as np

HEAD = 100_000  # places that are sorted at once
Part = tuple[np.ndarray, np.ndarray]  # positions in the order of events, and their keys


class SortedOrder:
    """``parts`` gives all rows, in the order of events, a part at a time; the least key comes first, NaN last."""

    def __init__(self, total: int, parts: Callable[[], Iterator[Part]]) -> None:
        self._total, self._parts = total, parts

    def __len__(self) -> int:
        return self._total

    def positions(self, places: np.ndarray) -> np.ndarray:
        head = self._head if self._whole is None else self._whole
        if len(head) < len(self) and len(places) and int(places.max()) >= len(head):
            head = self._sort_all()
        return head[places]

    def place_of(self, position: int) -> int | None:
        """Counted: how many come before it."""
        own: float | None = None
        for positions, keys in self._parts():
            here = np.flatnonzero(positions == position)
            if len(here):
                own = float(keys[here[0]])
        if own is None:
            return None
        before, is_behind = 0, False
        for positions, keys in self._parts():
            is_nan = np.isnan(keys)
            before += int(np.count_nonzero(~is_nan if np.isnan(own) else keys < own))
            if not is_behind:
                is_equal = is_nan if np.isnan(own) else keys == own
                here = np.flatnonzero(positions == position)
                is_behind = bool(len(here))
                before += int(np.count_nonzero(is_equal[: here[0]] if is_behind else is_equal))
        return before

    def places_of(self, positions: np.ndarray) -> np.ndarray:
        whole = self._whole if self._whole is not None else self._sort_all()
        return np.flatnonzero(np.isin(whole, positions))

    _whole: np.ndarray | None = None

    def _sort_all(self) -> np.ndarray:
        parts = list(self._parts())
        positions = np.concatenate([part[0] for part in parts])
        self._whole = positions[np.argsort(np.concatenate([part[1] for part in parts]), kind="stable")]
        return self._whole

    @cached_property
    def _head(self) -> np.ndarray:
        positions, keys = np.empty(0, np.int32), np.empty(0)
        worst = np.inf
        for more, new in self._parts():
            chosen = new < worst if np.isfinite(worst) or len(keys) >= HEAD else slice(None)
            positions = np.concatenate([positions, more[chosen]])
            keys = np.concatenate([keys, new[chosen]])
            if len(keys) > 2 * HEAD:
                positions, keys = _best(positions, keys)
                worst = float(keys[-1])
        return _best(positions, keys)[0]


def _best(positions: np.ndarray, keys: np.ndarray) -> Part:
    """The first of them in order; equal keys keep theirs."""
    order = np.argsort(keys, kind="stable")[:HEAD]
    return positions[order], keys[order]
