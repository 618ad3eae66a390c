"""A result with an array in; the same at one page of its leading dimensions, and what stands beside it, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

import numpy as np

from tdbg.shell.result import Array, Line, Result, Span

PANEL_WIDTH = 34
_MOST = 20_000_000  # elements that the panel counts at once; of more, an even sample
_BARS = 12


@dataclass(frozen=True)
class View:
    """``whole`` is what the command gave, with ``array`` in it; ``shown`` is the page looked at. ``page`` counts
    over the leading dimensions, -1 is all of it."""

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
        """The next page, round and round; before the first is the whole."""
        page = (self.page + 1 + by) % (self.pages + 1) - 1
        turned = replace(self, page=page)
        return replace(turned, shown=turned._part())

    def _part(self) -> Array:
        if self.page < 0:
            return self.array
        at = self.indices()
        offset = self.array.offset or (0,) * self.array.values.ndim
        moved = (*(first + i for first, i in zip(offset, at, strict=False)), *offset[len(at) :])
        return replace(self.array, values=self.array.values[tuple(slice(i, i + 1) for i in at)], offset=moved)

    def result(self) -> Result:
        """With the page in place of the whole array."""
        blocks = [self.shown if block is self.array else block for block in self.whole.blocks]
        return replace(self.whole, blocks=blocks)

    def bar(self) -> tuple[Line, Line]:
        """The line above the elements: which slice this is, and how to get to others."""
        rank = self.array.values.ndim
        places = [*(str(i) for i in self.indices()), *[":"] * (rank - len(self.indices()))]
        left = (Span(" slice ", "dim"), Span(f"[{', '.join(places)}]", "link", "!slice"))
        if not self.pages:
            return left, (Span("@[i,j] jumps to an element ", "dim"),)
        count = f"{self.page + 1:,} of {self.pages:,}" if self.page >= 0 else f"all {self.pages:,}"
        back, forward = Span(" ◀ ", "title", "!turn(-1)"), Span(" ▶ ", "title", "!turn(1)")
        return left, (Span("←", "key"), back, Span(f" {count} ", "title"), forward, Span("→ ", "key"))


def view_of(result: Result) -> View | None:
    """None when the result shows no array, or several."""
    arrays = [block for block in result.blocks if isinstance(block, Array)]
    if len(arrays) != 1 or getattr(arrays[0].values, "ndim", 0) < 1:
        return None
    return View(result, arrays[0], arrays[0])


def beside(array: Array, width: int) -> list[Line]:
    """Counts, extremes and a histogram of the elements; nothing for what is no number."""
    values = array.values
    if values.dtype.kind not in "fiub" and values.dtype.name not in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return []
    flat, is_sample = _elements(values)
    numbers = flat.astype(np.float64)
    finite = numbers[np.isfinite(numbers)]
    lines: list[Line] = [(Span("Elements", "title"), Span(f" {values.size:>{width - 9},}"))]
    if is_sample:
        lines.append((Span(f"below: an even sample of {flat.size:,}", "dim"),))
    for label, style, count in _counts(numbers):
        if count:
            share = f"{100 * count / numbers.size:.3g}%"
            lines.append((Span(f"{label:<9}", style), Span(f"{count:>{width - 17},}"), Span(f"{share:>8}", "dim")))
    if not finite.size:
        return lines
    lines.append(())
    for label, value in (("min", finite.min()), ("max", finite.max()), ("mean", finite.mean()), ("std", finite.std())):
        style = "negative" if value < 0 else "number"
        lines.append((Span(f"{label:<9}", "dim"), Span(f"{value:>{width - 9}.6g}", style)))
    return [*lines, (), *_histogram(finite, width)]


def _elements(values: np.ndarray) -> tuple[np.ndarray, bool]:
    if values.size <= _MOST:
        return values.reshape(-1), False
    every = values.size // _MOST + 1
    return np.asarray(values.flat[::every]) if values.flags.c_contiguous else values.reshape(-1)[::every], True


def _counts(numbers: np.ndarray) -> Sequence[tuple[str, str, int]]:
    return (
        ("nan", "nan", int(np.isnan(numbers).sum())),
        ("-inf", "inf", int(np.isneginf(numbers).sum())),
        ("+inf", "inf", int(np.isposinf(numbers).sum())),
        ("negative", "negative", int(((numbers < 0) & np.isfinite(numbers)).sum())),
        ("zero", "zero", int((numbers == 0).sum())),
        ("positive", "positive", int(((numbers > 0) & np.isfinite(numbers)).sum())),
    )


def _histogram(finite: np.ndarray, width: int) -> list[Line]:
    low, high = float(finite.min()), float(finite.max())
    if low == high or not np.isfinite(high - low):
        return []
    counts, edges = np.histogram(finite, bins=_BARS, range=(low, high))
    room = width - 10
    lines: list[Line] = [(Span("Histogram", "title"), Span(" of the finite ones", "dim"))]
    for count, left, right in zip(counts, edges, edges[1:], strict=False):
        eighths = round(8 * room * count / counts.max()) or (1 if count else 0)
        bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
        style = "negative" if right <= 0 else "positive" if left >= 0 else "zero"
        lines.append((Span(f"{left:>9.3g} ", "dim"), Span(bar, style)))
    return lines
