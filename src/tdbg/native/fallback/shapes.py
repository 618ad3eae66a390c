"""Interns shapes, as native/ring/shapes.c does."""

from __future__ import annotations

import threading


class Shapes:
    """Gives every distinct shape a number."""

    def __init__(self) -> None:
        self._all: list[tuple[int, ...]] = []
        self._numbers: dict[tuple[int, ...], int] = {}
        self.after_fork()

    def after_fork(self) -> None:
        self._lock = threading.RLock()

    def number_of(self, dims: tuple[int, ...]) -> int:
        found = self._numbers.get(dims)
        if found is not None:
            return found
        with self._lock:
            if dims not in self._numbers:
                self._all.append(dims)
                self._numbers[dims] = self._all.index(dims)
            return self._numbers[dims]

    def since(self, first: int) -> list[tuple[int, ...]]:
        return self._all[first:]


shapes = Shapes()


def shapes_since(first: int) -> list[tuple[int, ...]]:
    return shapes.since(first)
