"""Draws numbers over steps as a line of small bars, or as a chart of a few lines. Bad values are marked, not drawn."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from tdbg.shell.result import Line, Span

BARS = "▁▂▃▄▅▆▇█"
_DECADES = 3  # values that span more are drawn on a logarithmic scale
_MARKS = {"nan": "×", "inf": "∞", "": " "}
Points = Sequence[tuple[int, float]]


class Bar(NamedTuple):
    """One column: the steps from ``first`` to ``last``. ``value`` is None where nothing finite is."""

    first: int
    last: int
    value: float | None
    mark: str = ""  # nan or inf, where one of its steps is bad


def gathered(points: Points, most: int, bad: Collection[int] = ()) -> list[Bar]:
    """Gathers neighbouring points into one bar where there are more than ``most``: the largest value, by its absolute
    size."""
    most = max(1, most)
    per_bar = max(1, -(-len(points) // most))
    return [_bar(points[at : at + per_bar], bad) for at in range(0, len(points), per_bar)]


def _bar(points: Points, bad_steps: Collection[int]) -> Bar:
    finite = [value for _, value in points if math.isfinite(value)]
    bad = [value for _, value in points if not math.isfinite(value)]
    is_bad = any(value != value for value in bad) or any(step in bad_steps for step, _ in points)
    mark = "nan" if is_bad else "inf" if bad else ""
    return Bar(points[0][0], points[-1][0], max(finite, key=abs, default=None), mark)


class Scale:
    """Turns values into shares of the height, from 0 to 1."""

    def __init__(self, values: Sequence[float]) -> None:
        self.low, self.high = min(values, default=0.0), max(values, default=0.0)
        self.is_logarithmic = self.low > 0 and math.log10(self.high) - math.log10(self.low) > _DECADES

    def share(self, value: float) -> float:
        if self.is_logarithmic:
            low, high, value = math.log(self.low), math.log(self.high), math.log(value)
        else:  # halves, so that the distance between two of the largest numbers is still a number
            low, high, value = self.low / 2, self.high / 2, value / 2
        return 0.5 if high == low else (value - low) / (high - low)

    def at(self, share: float) -> float:
        if self.is_logarithmic:
            return math.exp(math.log(self.low) * (1 - share) + math.log(self.high) * share)
        return self.low * (1 - share) + self.high * share


def sparkline(points: Points, most: int) -> Line:
    """Draws ``▁▂▃█×``, at most that wide."""
    bars = gathered(points, most)
    scale = Scale([bar.value for bar in bars if bar.value is not None])
    return _joined(_small(bar, scale) for bar in bars)


def _small(bar: Bar, scale: Scale) -> tuple[str, str]:
    if bar.mark:
        return _MARKS[bar.mark], bar.mark
    if bar.value is None:
        return " ", ""
    return BARS[round(scale.share(bar.value) * (len(BARS) - 1))], "number"


def chart(points: Points, width: int, height: int, bad: Collection[int] = ()) -> list[Line]:
    """Draws bars over steps, with the scale at the left, marks of bad steps and the steps below."""
    bars = gathered(points, max(8, width - 12), bad)
    if len(bars) * 4 <= width - 12:  # few steps: wider bars
        bars = [bar for bar in bars for _ in range(min(4, (width - 12) // max(1, len(bars))))]
    scale = Scale([bar.value for bar in bars if bar.value is not None])
    labels = _labels(scale, height) if any(bar.value is not None for bar in bars) else {}
    room = max(map(len, ("step", *labels.values())))
    lines = []
    for row in range(height - 1, -1, -1):
        lines.append((Span(f"{labels.get(row, ''):>{room}} ┤", "dim"), *_row(bars, scale, row, height)))
    if any(bar.mark for bar in bars):
        lines.append((Span(f"{'bad':>{room}}  ", "dim"), *_joined((_MARKS[bar.mark], bar.mark) for bar in bars)))
    first, last = str(points[0][0]), str(points[-1][0])
    between = " " * max(1, len(bars) - len(first) - len(last))
    lines.append((Span(f"{'step':>{room}}  {first}{between if first != last else ''}{last * (first != last)}", "dim"),))
    return lines


def _labels(scale: Scale, height: int) -> dict[int, str]:
    middle = height // 2
    if scale.high == scale.low:
        return {middle: f"{scale.low:.4g}"}
    return {0: f"{scale.low:.4g}", middle: f"{scale.at(middle / (height - 1)):.4g}", height - 1: f"{scale.high:.4g}"}


def _row(bars: Sequence[Bar], scale: Scale, row: int, height: int) -> Line:
    return _joined(_cell(bar, scale, row, height) for bar in bars)


def _joined(cells: Iterable[tuple[str, str]]) -> Line:
    """Makes neighbours of the same style one span."""
    spans: list[Span] = []
    for text, style in cells:
        if spans and spans[-1].style == style:
            spans[-1] = Span(spans[-1].text + text, style)
        else:
            spans.append(Span(text, style))
    return tuple(spans)


def _cell(bar: Bar, scale: Scale, row: int, height: int) -> tuple[str, str]:
    if bar.value is None:
        return " ", ""
    filled = scale.share(bar.value) * (height - 1 / 8) + 1 / 8 - row
    eighths = min(8, max(0, round(filled * 8)))
    return (BARS[eighths - 1], bar.mark or "number") if eighths else (" ", "")
