"""Lays a table out, perhaps of ten million rows: a header and aligned lines, each made when it is asked for.

Columns are as wide as what stands in the first and last rows. A longer cell further on pushes only its own line.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import cast

from tdbg.shell.result import Cell, Column, Line, Span, Table
from tdbg.shell.text_width import cells_of

_SAMPLE = 200
_GAP = "  "
_LEAST = 8  # a column that is cut keeps this much


class TableLayout:
    def __init__(self, table: Table, width: int | None) -> None:
        self._columns = [(n, column) for n, column in enumerate(table.columns) if column.is_shown]
        self._rows = table.rows
        rows = _sample(self._rows if table.measured is None else table.measured)
        sample = [self._cells(row) for row in rows]
        self._right = [column.right or _is_numeric(rows, n) for n, column in self._columns]
        titles = [cells_of(column.title) for _, column in self._columns]
        self._widths = [max([title, *(_length(row[n]) for row in sample)]) for n, title in enumerate(titles)]
        self._is_cut = width is not None
        if width is not None:
            kept = {n for n, (_, column) in enumerate(self._columns) if column.is_whole}
            self._widths = _fitting(self._widths, width, kept)

    def __len__(self) -> int:
        return len(self._rows) + 1

    def lines(self, first: int, last: int) -> list[Line]:
        found = [self._header()] if first == 0 and last > 0 else []
        found += [self._line(self._cells(row)) for row in self._rows[max(first - 1, 0) : max(last - 1, 0)]]
        return found

    def _cells(self, row: Sequence[Cell]) -> list[Line]:
        return [cell_line(row[n], column) for n, column in self._columns]

    def _header(self) -> Line:
        return self._line([(Span(column.title, "title", column.sort),) for _, column in self._columns])

    def _line(self, cells: Sequence[Line]) -> Line:
        spans: list[Span] = []
        for n, (cell, width, right) in enumerate(zip(cells, self._widths, self._right, strict=True)):
            if self._is_cut and not self._columns[n][1].is_whole:
                cell = _shortened(cell, width)
            space = Span(" " * (width - _length(cell)))
            is_last = n == len(cells) - 1
            gap = () if is_last else (Span(_GAP),)
            pieces = (space, *cell, *gap) if right else (*cell, *gap) if is_last else (*cell, space, *gap)
            spans += [span for span in pieces if span.text]
        return tuple(spans)


layout = TableLayout


def _sample(rows: Sequence[Sequence[Cell]]) -> list[Sequence[Cell]]:
    end = len(rows)
    return [*rows[:_SAMPLE], *rows[max(end - _SAMPLE, _SAMPLE) : end]]


def cell_line(cell: Cell, column: Column) -> Line:
    """Writes a cell as spans."""
    if isinstance(cell, Span):
        return (cell,)
    if isinstance(cell, tuple):
        return cast(Line, cell)
    if cell is None:
        return (Span("-", "dim"),)
    if column.form:
        return (Span(column.form(cell)),)
    if isinstance(cell, float):
        return (Span(f"{cell:.6g}"),)
    return (Span(str(cell)),)


def _is_numeric(rows: Sequence[Sequence[Cell]], n: int) -> bool:
    known = [row[n] for row in rows if row[n] is not None]
    return bool(known) and all(isinstance(cell, int | float) and not isinstance(cell, bool) for cell in known)


def _length(cell: Line) -> int:
    return sum(cells_of(span.text) for span in cell)


def _fitting(widths: list[int], width: int, kept: Collection[int]) -> list[int]:
    """Narrows the widest columns by what is too much; those that are ``kept`` lose nothing."""
    found = list(widths)
    room = width - len(_GAP) * (len(widths) - 1)
    cut = [n for n in range(len(widths)) if n not in kept]
    while cut and sum(found) > room and max(found[n] for n in cut) > _LEAST:
        widest = max(cut, key=lambda n: found[n])
        others = max([_LEAST, *(found[n] for n in cut if n != widest)])
        found[widest] -= max(1, min(sum(found) - room, found[widest] - others))
    return found


def _shortened(cell: Line, width: int) -> Line:
    """Cuts a text in the middle: both ends of a name tell it from its neighbours."""
    cells = _length(cell)
    if cells <= width:
        return cell
    length = sum(len(span.text) for span in cell)
    width = max(width - max(cells - length, 0), _LEAST // 2)  # wide letters: as if all of them stayed
    head = (width - 1) // 2
    tail_from = length - (width - 1 - head)
    found: list[Span] = []
    at = 0
    for span in cell:
        kept = span.text[: max(head - at, 0)]
        cut = "…" if at <= head < at + len(span.text) else ""
        rest = span.text[max(tail_from - at, len(kept)) :] if at + len(span.text) > tail_from else ""
        found.append(span._replace(text=kept + cut + rest))
        at += len(span.text)
    return tuple(span for span in found if span.text)
