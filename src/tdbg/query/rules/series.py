"""The numbers of one tensor of the program over the steps that the rules look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

SUMS = ("elements", "negative", "zero", "positive")
ARRAYS = ("step", *SUMS, "min", "max", "mean", "std")


class Node(NamedTuple):
    """An op as it runs: ``turn`` counts the executions of one eager op within a step, and is 0 in graphs."""

    op: int
    turn: int


class Place(NamedTuple):
    """One tensor of the program: an output of a node, or (``is_given``) a value that entered the program there."""

    node: Node
    slot: int
    is_given: bool = False


@dataclass(frozen=True, slots=True)
class Series:
    """The numbers of one tensor, one entry for each step in which it was seen; loop iterations are put together."""

    place: Place
    dtype: int
    shape: int  # of the last step
    step: np.ndarray
    elements: np.ndarray
    negative: np.ndarray
    zero: np.ndarray
    positive: np.ndarray
    min: np.ndarray
    max: np.ndarray
    mean: np.ndarray
    std: np.ndarray

    def __len__(self) -> int:
        return len(self.step)

    @property
    def largest(self) -> np.ndarray:
        """The greatest absolute value in each step."""
        return np.maximum(np.abs(self.min), np.abs(self.max))

    @property
    def rms(self) -> np.ndarray:
        return np.sqrt(self.mean**2 + self.std**2)

    def last(self, count: int) -> Series:
        return self.at(slice(-count, None))

    def first(self, count: int) -> Series:
        return self.at(slice(count))

    def at(self, wanted: slice | np.ndarray) -> Series:
        """In some of its steps only."""
        arrays = (getattr(self, name)[wanted] for name in ARRAYS)
        return Series(self.place, self.dtype, self.shape, *arrays)
