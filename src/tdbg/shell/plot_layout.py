"""Draws a plot in lines: a chart of one series, or a line of small bars for each of several."""

from __future__ import annotations

from collections.abc import Sequence

from tdbg.shell.result import Line, Plot, Span
from tdbg.shell.sparkline import Scale, chart, sparkline

_WIDTH, _HEIGHT = 80, 8
_LONGEST_NAME = 40


class PlotLayout:
    def __init__(self, plot: Plot, width: int | None) -> None:
        self._lines = _lines(plot, _WIDTH if width is None else width)

    def __len__(self) -> int:
        return len(self._lines)

    def lines(self, first: int, last: int) -> list[Line]:
        return self._lines[first:last]


layout = PlotLayout


def _lines(plot: Plot, width: int) -> list[Line]:
    series = {name: points for name, points in plot.series.items() if points}
    if not series:
        return [(Span(plot.title, "title"), Span(": no step has a value"))]
    values = [value for points in series.values() for _, value in points if value - value == 0]
    note = "logarithmic scale" if len(series) == 1 and Scale(values).is_logarithmic else ""
    is_marked = bool(plot.bad) or any(value - value != 0 for points in series.values() for _, value in points)
    note += ("; " if note and is_marked else "") + ("× NaN, ∞ infinity" if is_marked else "")
    title: Line = (Span(plot.title, "title"), *([Span(f"  ({note})", "dim")] if note else []))
    if len(series) == 1:
        return [title, *chart(next(iter(series.values())), width, _HEIGHT, plot.bad)]
    return [title, *_small(series, width)]


def _small(series: dict[str, Sequence[tuple[int, float]]], width: int) -> list[Line]:
    """Draws each series on its own scale, with its least and greatest value."""
    names = {name: name if len(name) <= _LONGEST_NAME else f"…{name[1 - _LONGEST_NAME :]}" for name in series}
    room = max(map(len, names.values()))
    ranges = {name: _range(points) for name, points in series.items()}
    bars = max(8, width - room - max(map(len, ranges.values())) - 4)
    found = []
    for name, points in series.items():
        line = sparkline(points, bars)
        space = " " * (min(bars, max(len(points) for points in series.values())) - sum(len(s.text) for s in line))
        found.append(
            (Span(names[name].ljust(room), "name"), Span("  "), *line, Span(f"{space}  {ranges[name]}", "dim"))
        )
    return found


def _range(points: Sequence[tuple[int, float]]) -> str:
    finite = [value for _, value in points if value - value == 0]
    return f"{min(finite):.4g} … {max(finite):.4g}" if finite else "no finite value"
