"""Turns the pages of an array's leading dimensions, and writes what stands beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import prod

import numpy as np

from tdbg.model import NUMBERS, Summary
from tdbg.native.reference import DTYPES
from tdbg.shell.numeric_summary import histogram, summary_of
from tdbg.shell.result import Array, Line, Result, Span
from tdbg.shell.words import words_of

PANEL_WIDTH = 34
_COUNTS = {
    "nan": ("nan", "nan"), "neg_inf": ("-inf", "inf"), "pos_inf": ("+inf", "inf"), "negative": ("negative", "negative"),
    "zero": ("zero", "zero"), "positive": ("positive", "positive"),
}  # fmt: skip
_COUNTS |= {one.name: (one.label, "") for one in NUMBERS[1:] if one.is_count and one.name not in _COUNTS}
_MOST_COUNTED = 500_000_000  # bytes; more are not read without being asked for
_MOST_SORTED = 2_000_000  # elements of a histogram; of more, an even sample


@dataclass(frozen=True)
class View:
    """A tensor, of which one page is looked at. ``whole`` is what the command gave, with ``array`` in it; ``shown`` is
    the page looked at. ``page`` counts over the leading dimensions, -1 is all of it."""

    whole: Result
    array: Array
    shown: Array
    page: int = -1

    @property
    def pages(self) -> int:
        shape = self.array.values.shape
        return prod(shape[:-2]) if len(shape) > 2 and prod(shape) else 0

    def indices(self) -> tuple[int, ...]:
        shape = self.array.values.shape[:-2]
        return tuple(int(i) for i in np.unravel_index(self.page, shape)) if self.page >= 0 else ()

    def turned(self, by: int) -> View:
        """Goes to the next page, round and round; before the first is the whole."""
        page = (self.page + 1 + by) % (self.pages + 1) - 1
        turned = replace(self, page=page)
        return replace(turned, shown=turned._part())

    def _part(self) -> Array:
        if self.page < 0:
            return self.array
        at = self.indices()
        page = tuple(slice(i, i + 1) for i in at)
        return replace(self.array, values=self.array.values[page], part=self.array.elements.narrowed(page))

    def result(self) -> Result:
        """Gives the result with the page in place of the whole array."""
        blocks = [self.shown if block is self.array else block for block in self.whole.blocks]
        return replace(self.whole, blocks=blocks)

    @property
    def slice(self) -> str:
        """Which slice this is: ``[0, :, :]``"""
        return self.array.elements.label(self.indices())

    def sliced(self, line: str) -> tuple[str, int]:
        """Gives the command that gave the tensor with this slice of it, and the place in front of the closing
        bracket."""
        for word in words_of(line, is_whole=False)[1:]:
            bare = word.text.partition("[")[0]
            if bare and self.array.name.startswith(bare):
                begin = f"{line[: word.start]}{bare}{self.slice}"
                return begin + line[word.end :], len(begin) - 1
        return f"{line}{self.slice}", len(line + self.slice) - 1

    def bar(self) -> tuple[Line, Line]:
        """Writes the line above the elements: which slice this is, and how to get to others."""
        left = (Span(" slice ", "dim"), Span(self.slice, "link", "!slice"))
        if not self.pages:
            return left, (Span("@[i,j] jumps to an element ", "dim"),)
        count = f"{self.page + 1:,} of {self.pages:,}" if self.page >= 0 else f"all {self.pages:,}"
        back, forward = Span(" ◀ ", "title", "!turn(-1)"), Span(" ▶ ", "title", "!turn(1)")
        return left, (Span("←", "key"), back, Span(f" {count} ", "title"), forward, Span("→ ", "key"))


def view_of(result: Result) -> View | None:
    """Finds the array that a result shows; None when it shows none, or several."""
    arrays = [block for block in result.blocks if isinstance(block, Array)]
    if len(arrays) != 1 or getattr(arrays[0].values, "ndim", 0) < 1:
        return None
    return View(result, arrays[0], arrays[0])


def has_numbers(array: Array) -> bool:
    """Whether something can stand beside it."""
    return array.values.size > 0 and array.values.dtype.name in DTYPES


def beside(array: Array, width: int) -> list[Line]:
    """Writes counts, extremes and a histogram of the elements."""
    values = array.values
    lines: list[Line] = [(Span("Elements", "title"), Span(f"{values.size:>{width - 8},}"))]
    if values.nbytes > _MOST_COUNTED or (not values.flags.c_contiguous and values.nbytes > _MOST_COUNTED // 10):
        return [*lines, (), (Span("too many to count by default:", "dim"),), (Span("pt -s NAME counts them", "dim"),)]
    summary = summary_of(values)
    if summary is None:
        return lines
    for label, style, count in _counts(summary):
        if count > 0:
            percent = 100 * count / summary.elements
            share = f"{percent:.3g}%" if percent >= 0.01 else "<0.01%"
            lines.append((Span(f"{label:<9}", style), Span(f"{count:>{width - 17},}"), Span(f"{share:>8}", "dim")))
    if not summary.negative + summary.zero + summary.positive:
        return lines
    statistics = [(one.label, getattr(summary, one.name)) for one in NUMBERS if not one.is_count]
    stated = [
        (Span(f"{label:<9}", "dim"), Span(f"{value:>{width - 9}.7g}", _sign(value))) for label, value in statistics
    ]
    return [*lines, (), *stated, (), *_bars(values, width)]


def _sign(value: float) -> str:
    return "negative" if value < 0 else "number"


def _counts(summary: Summary) -> Sequence[tuple[str, str, int]]:
    """Label, style and count."""
    return [(label, style, getattr(summary, name)) for name, (label, style) in _COUNTS.items()]


def _bars(values: np.ndarray, width: int) -> list[Line]:
    if values.dtype.kind == "c":
        return []
    flat = values.reshape(-1)
    every = -(-flat.size // _MOST_SORTED)
    counts, edges = histogram(flat[::every])
    if len(counts) < 2:
        return []
    said = f" of every {every}th" if every > 1 else " of the finite ones"
    lines: list[Line] = [(Span("Histogram", "title"), Span(said, "dim"))]
    room = width - 11
    for count, (left, right) in zip(counts.tolist(), pairwise(edges), strict=True):
        eighths = round(8 * room * count / counts.max()) or (1 if count else 0)
        bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
        style = "negative" if right <= 0 else "positive" if left >= 0 else "zero"
        lines.append((Span(f"{left:>10.4g} ", "dim"), Span(bar, style)))
    return lines
