"""Puts rows in the order of a key, and sorts only as much of it as somebody looks at.

Whoever sorts ten million rows looks at the first few, so those are found in one pass that keeps the best so far. What
lies beyond is sorted a bucket at a time: the rows whose keys lie between two neighbouring keys of a sample. No pass
keeps all rows or all keys.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, lru_cache

import numpy as np

HEAD = 100_000  # places that are sorted at once
BUCKET = 100_000  # rows of a bucket, about; more where they have the same key
_SAMPLE = 100_000  # keys from which the bounds of buckets are chosen
_MOST_BUCKETS = 4  # that are remembered
Part = tuple[np.ndarray, np.ndarray]  # positions in the order of events, and their keys


class SortedOrder:
    """An order of rows. ``parts`` gives all of them, in the order of events, a part at a time. The least key comes
    first, NaN last."""

    def __init__(self, total: int, parts: Callable[[], Iterator[Part]]) -> None:
        self._total, self._parts = total, parts
        self._bucket = lru_cache(_MOST_BUCKETS)(self._read_bucket)

    def __len__(self) -> int:
        return self._total

    def positions(self, places: np.ndarray) -> np.ndarray:
        if not len(places) or int(places.max()) < len(self._head):
            return self._head[places]
        found = np.empty(len(places), np.int32)
        bucket = np.searchsorted(self._starts, places, "right") - 1
        for number in np.unique(bucket).tolist():
            here = bucket == number
            found[here] = self._bucket(number)[places[here] - self._starts[number]]
        return found

    def place_of(self, position: int) -> int | None:
        """Finds the place of a row by counting how many come before it."""
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
        """Finds the places of rows, roughly: within a bucket, rows are counted as they come."""
        bucket, before = self._count(np.sort(positions))
        return self._starts[bucket] + before

    @property
    def _head(self) -> np.ndarray:
        return self._first_pass[0]

    @cached_property
    def _first_pass(self) -> tuple[np.ndarray, np.ndarray]:
        """The rows of the first places, and the keys that end buckets."""
        found: list[Part] = [(np.empty(0, np.int32), np.empty(0))]
        worst, done, sample = np.inf, 0, [np.empty(0)]
        every = max(1, self._total // _SAMPLE)
        for positions, keys in self._parts():
            sample.append(keys[-done % every :: every].copy())
            done += len(keys)
            if len(found[0][1]) >= HEAD:
                is_better = ~np.isnan(keys) if np.isnan(worst) else keys < worst
                positions, keys = positions[is_better], keys[is_better]
            found.append((positions, keys))
            if sum(len(part[1]) for part in found) > 2 * HEAD:
                found = [_best(found)]
                worst = float(found[0][1][-1])
        return _best(found)[0], _bounds(np.concatenate(sample), self._total)

    # ---- buckets

    def _buckets_of(self, keys: np.ndarray) -> np.ndarray:
        return np.searchsorted(self._first_pass[1], keys)

    @cached_property
    def _starts(self) -> np.ndarray:
        """The place of the first row of each bucket."""
        self._count(np.empty(0, np.int64))
        return self._starts

    def _count(self, positions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Counts rows by bucket. For some rows, which are in order, gives their buckets and about how many rows of
        those come before them."""
        counts = np.zeros(len(self._first_pass[1]) + 1, np.int64)
        buckets, before = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
        for more, keys in self._parts():
            bucket = self._buckets_of(keys)
            first, last = np.searchsorted(positions, [more.min(), more.max() + 1]) if len(more) else (0, 0)
            if first < last:
                here = bucket[np.isin(more, positions[first:last])]
                buckets.append(here)
                before.append(counts[here])
            counts += np.bincount(bucket, minlength=len(counts))
        self._starts = np.cumsum(counts) - counts
        return np.concatenate(buckets), np.concatenate(before)

    def _read_bucket(self, number: int) -> np.ndarray:
        bounds = self._first_pass[1]
        above = bounds[number - 1] if number else None
        is_one_key = number == len(bounds) or (above is not None and np.nextafter(above, np.inf) == bounds[number])
        positions, keys = [np.empty(0, np.int32)], [np.empty(0)]
        for more, new in self._parts():
            here = new <= bounds[number] if number < len(bounds) else np.isnan(new)
            if above is not None and number < len(bounds):
                here &= new > above
            positions.append(more[here])
            if not is_one_key:
                keys.append(new[here])
        together = np.concatenate(positions)
        return together if is_one_key else together[np.argsort(np.concatenate(keys), kind="stable")]


def _bounds(sample: np.ndarray, total: int) -> np.ndarray:
    """Gives the greatest key of each bucket; the last bucket is for keys that are no numbers. A key that many rows have
    gets a bucket of its own."""
    known = np.sort(sample[~np.isnan(sample)])
    if not len(known):
        return np.array([np.inf])
    ends = known[np.linspace(0, len(known) - 1, max(2, total // BUCKET + 1)).astype(int)]
    frequent = ends[1:][ends[1:] == ends[:-1]]
    return np.unique(np.concatenate([ends, np.nextafter(frequent, -np.inf), [np.inf]]))


def _best(parts: Sequence[Part]) -> Part:
    """Takes the first of the rows in order; rows with equal keys keep their order."""
    positions, keys = (np.concatenate([part[n] for part in parts]) for n in (0, 1))
    order = np.argsort(keys, kind="stable")[:HEAD]
    return positions[order], keys[order]
