"""Lays an array out in lines like those that numpy prints, each made when it is asked for.

How many lines there are, and which elements each shows, is arithmetic: an array of eighty million elements is laid out
at once. Beyond two dimensions each page, a matrix, has a line of its own that says which one it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tdbg.shell.array_cells import Cells
from tdbg.shell.result import Array, Line, Span

MOST_WHOLE = 1000  # elements; larger arrays are shown with ellipses
_MOST_SAMPLED = 1000
_EDGE = 3
_EDGE_ROWS = 8  # of a matrix
_LABELLED_FROM = 24  # lines; a longer listing says at the left where it is
_GAP = ", "
_WIDTH = 80


@dataclass(frozen=True, slots=True)
class _Axis:
    """The entries of one dimension that are shown: all, or ``edge`` at both ends with an ellipsis between."""

    size: int
    edge: int  # -1: all

    @property
    def entries(self) -> int:
        return self.size if self.edge < 0 else 2 * self.edge + 1

    def index(self, entry: int) -> int | None:
        """Gives the index of an entry; None for the ellipsis."""
        if self.edge < 0 or entry < self.edge:
            return entry
        return None if entry == self.edge else self.size - (self.entries - entry)

    def entry(self, index: int) -> int | None:
        """Gives the entry of an index; None when it is hidden."""
        if self.edge < 0 or index < self.edge:
            return index
        after = self.size - index
        return self.entries - after if after <= self.edge else None


class ArrayLayout:
    """The lines of one Array. ``width`` None: as wide as numpy would print it."""

    def __init__(self, block: Array, width: int | None) -> None:
        width = _WIDTH if width is None else width
        self._values, self._part, self._marked = np.asarray(block.values), block.elements, block.marked
        values = self._values
        self._is_whole = block.shows_all or values.size <= MOST_WHOLE
        self._axes = [_Axis(size, -1) for size in values.shape]
        if not self._is_whole:
            self._axes = self._cut_short(values.shape)
        self._cells = Cells(self._sample(), block.ranges)
        self._cell_width = self._cells.width + (2 if self._marked is not None else 0)
        self._brackets = "[" * min(values.ndim, 2)
        self._indent = "array(" if values.ndim < 3 else "  "
        self._label_width = 0
        self._set_width(width)
        if len(self) > _LABELLED_FROM or (not self._is_whole and values.ndim > 1):
            self._indent = "" if values.ndim < 3 else "  "
            self._label_width = self._widest_label() + 1
            self._set_width(width)

    # ---- which elements are shown

    def _cut_short(self, shape: tuple[int, ...]) -> list[_Axis]:
        axes = []
        for at, size in enumerate(shape):
            edge = _EDGE_ROWS if at == len(shape) - 2 == 0 else _EDGE
            axes.append(_Axis(size, edge if size > 2 * edge + 1 else -1))
        return axes

    def _set_width(self, width: int) -> None:
        room = width - self._label_width - len(self._indent) - len(self._brackets) - len("]],")
        self._per_line = max(1, (room + len(_GAP)) // (self._cell_width + len(_GAP)))
        if self._axes and not self._is_whole and self._values.shape[-1] > 2 * _EDGE + 1:
            # A row of a shortened array is one line: as many of its elements as there is room for.
            dots = len("..., ")
            fit = (room + len(_GAP) - dots) // (self._cell_width + len(_GAP))
            size = self._values.shape[-1]
            edge = max(1, fit // 2)
            self._axes[-1] = _Axis(size, edge if 2 * edge + 1 < size else -1)
            self._per_line = max(self._per_line, self._axes[-1].entries)
        self._row_lines = max(1, -(-self._axes[-1].entries // self._per_line)) if self._axes else 1
        # How many lines one entry of each dimension takes; a page has a line that names it.
        self._lines_of = [1] * len(self._axes)
        lines = self._row_lines
        for at in range(len(self._axes) - 2, -1, -1):
            self._lines_of[at] = lines + (1 if at == len(self._axes) - 3 else 0)
            lines = self._total(at)
        self._length = max(1, lines)

    def _total(self, at: int) -> int:
        """Counts the lines of all entries of one dimension; its ellipsis is one line."""
        axis = self._axes[at]
        hidden = 1 if axis.edge >= 0 else 0
        return (axis.entries - hidden) * self._lines_of[at] + hidden

    def _sample(self) -> np.ndarray:
        values = self._values
        if values.size <= _MOST_SAMPLED:
            return values
        if self._is_whole:
            chosen = np.unravel_index(np.linspace(0, values.size - 1, _MOST_SAMPLED).astype(np.int64), values.shape)
            return values[chosen]
        shown = [
            np.array([i for entry in range(axis.entries) if (i := axis.index(entry)) is not None])
            for axis in self._axes
        ]
        return values[np.ix_(*shown)].reshape(-1)[:_MOST_SAMPLED]

    # ---- lines

    def __len__(self) -> int:
        return self._length

    def lines(self, first: int, last: int) -> list[Line]:
        return [self._line(number) for number in range(max(first, 0), min(last, self._length))]

    def line_of(self, indices: Sequence[int]) -> int | None:
        """Finds the line of an element of the tensor; None when it is behind an ellipsis. TdbgError when there is no
        such element."""
        line = 0
        for at, (axis, one) in enumerate(zip(self._axes, self.place_of(indices), strict=True)):
            entry = axis.entry(one)
            if entry is None:
                return None
            if at == len(self._axes) - 1:
                return line + entry // self._per_line
            passed_dots = axis.edge >= 0 and entry > axis.edge
            line += (entry - 1) * self._lines_of[at] + 1 if passed_dots else entry * self._lines_of[at]
            line += 1 if at == len(self._axes) - 3 else 0
        return line

    def place_of(self, indices: Sequence[int]) -> list[int]:
        """Gives the indices of the same element, counted from the first one that is shown."""
        return self._part.place(indices)

    def _line(self, number: int) -> Line:
        values = self._values
        if values.ndim == 0:
            return self._finished(values.reshape(1), (Span(self._indent),), f", dtype={values.dtype})")
        if values.size == 0:
            return (Span(f"array([], shape={values.shape}, dtype={values.dtype})"),)
        entries: list[int] = []
        rest = number
        for at in range(values.ndim - 1):
            axis, size = self._axes[at], self._lines_of[at]
            entry = rest // size
            if axis.edge >= 0 and rest >= axis.edge * size:
                rest -= axis.edge * size
                if rest == 0:
                    return self._dots(at)
                rest -= 1
                entry = axis.edge + 1 + rest // size
            rest %= size
            entries.append(entry)
            if at == values.ndim - 3:
                if rest == 0:
                    return self._page(entries)
                rest -= 1
        return self._row(entries, rest)

    def _dots(self, at: int) -> Line:
        return (Span(" " * (self._label_width + len(self._indent) + min(at + 1, 2))), Span("...,", "dim"))

    def _page(self, entries: list[int]) -> Line:
        index = tuple(axis.index(entry) or 0 for axis, entry in zip(self._axes, entries, strict=False))
        return (Span(self._part.label(index), "dim"),)

    def _widest_label(self) -> int:
        ends = [tuple(size - 1 for size in self._values.shape), (0,) * self._values.ndim]
        if self._row_lines == 1:
            ends = [end[:-1] for end in ends]
        return max(len(self._part.label(end)) for end in ends) if self._values.size else 0

    def _row(self, entries: list[int], piece: int) -> Line:
        axis = self._axes[-1]
        begin, end = piece * self._per_line, min((piece + 1) * self._per_line, axis.entries)
        index = tuple(one.index(entry) or 0 for one, entry in zip(self._axes, entries, strict=False))
        row = self._values[index]
        spans: list[Span] = []
        if self._label_width:
            if self._row_lines == 1:
                label = self._part.label(index)
            else:
                first = axis.index(begin)
                label = self._part.label((*index, first if first is not None else axis.edge))
            spans.append(Span(label.ljust(self._label_width), "dim"))
        is_first = not entries or all(entry == 0 for entry in (entries[-1:] if self._values.ndim > 2 else entries))
        lead = self._indent if is_first and piece == 0 and self._values.ndim < 3 else " " * len(self._indent)
        opened = len(self._brackets) if is_first else 1
        brackets = ("[" * opened).rjust(len(self._brackets)) if piece == 0 else " " * len(self._brackets)
        spans.append(Span(lead + brackets))
        is_marked = self._marked is not None and index == self._marked[:-1]
        spans += self._elements(row, axis, begin, end, self._marked[-1] if self._marked and is_marked else -1)
        spans.append(Span(self._closing(entries, end == axis.entries)))
        return tuple(spans)

    def _closing(self, entries: list[int], ends_row: bool) -> str:
        if not ends_row:
            return ","
        end = ")" if self._indent == "array(" else ""
        if self._values.ndim == 1:
            return f"]{end}"
        is_last_row = entries[-1] == self._axes[-2].entries - 1
        return f"]]{end}" if is_last_row else "],"

    def _elements(self, row: np.ndarray, axis: _Axis, begin: int, end: int, marked: int) -> list[Span]:
        if axis.edge < 0:
            return self._written(row[begin:end], marked - begin)
        head = row[begin : min(end, axis.edge)]
        tail_begin = axis.size - axis.entries + max(begin, axis.edge + 1)
        tail = row[tail_begin : axis.size - axis.entries + end]
        spans = self._written(head, marked - begin)
        if begin <= axis.edge < end:
            spans += ([Span(_GAP)] if len(head) else []) + [Span("...", "dim")]
            spans += [Span(_GAP)] if len(tail) else []
        return spans + self._written(tail, marked - tail_begin)

    def _written(self, row: np.ndarray, marked: int = -1) -> list[Span]:
        """Writes elements; neighbours of the same style are one span. One element may be marked, so that it is found
        without colours."""
        spans: list[Span] = []
        if not len(row):
            return spans
        for at, (text, style) in enumerate(zip(self._cells.texts(row), self._cells.styles(row), strict=True)):
            if self._marked is not None:
                text, style = (f">{text}<", "match") if at == marked else (f" {text} ", style)
            if spans and spans[-1].style == style:
                spans[-1] = Span(f"{spans[-1].text}{_GAP}{text}", style)
            else:
                spans += ([Span(_GAP)] if spans else []) + [Span(text, style)]
        return spans

    def _finished(self, row: np.ndarray, before: Line, after: str) -> Line:
        return (*before, *self._written(row), Span(after))


layout = ArrayLayout
