"""Draws curves over steps as an SVG plot: lines, the range around them, and marks where values were bad."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tdbg.query.over_time.curves import Curve, Point
from tdbg.report.markup import Html, join, tag
from tdbg.report.style import COLOURS

_WIDTH, _HEIGHT = 520, 210
_LEFT, _RIGHT, _TOP, _BOTTOM = 66, 20, 10, 26
_MOST_LINES, _MOST_STEPS = 5, 8
_LARGEST = 4e307  # more would not leave room for the distance between two of them
_LOGARITHMIC_FROM = 1e3  # a greatest value this many times the least
_MOST_DOTS = 60


def plot(title: str, curves: Sequence[Curve], what: str, band: bool = False) -> Html:
    """Draws a figure with its legend. ``band``: the range from the least to the greatest element is shaded."""
    shown = curves[:COLOURS]
    axes = _Axes(shown, band)
    lines = [axes.grid()]
    lines += [axes.curve(curve, number, band) for number, curve in enumerate(shown)]
    more = len(curves) - len(shown)
    scale = "; logarithmic scale" if axes.is_logarithmic else ""
    notes = f"{what}{scale}" + (f"; {more:,} more are not shown" if more else "")
    if any(point.bad for curve in shown for point in curve.points):
        notes += "; red marks: steps with NaN or infinity"
    return tag(
        "figure",
        tag("h3", title),
        tag("svg", *lines, viewBox=f"0 0 {_WIDTH} {_HEIGHT}", role="img", aria_label=title),
        tag("div", *(_legend(curve.name, number) for number, curve in enumerate(shown)), class_="legend"),
        tag("figcaption", notes),
    )


def _legend(name: str, number: int) -> Html:
    shown = name if len(name) <= 60 else "…" + name[-59:]
    return tag("span", tag("i", style=f"background:var(--s{number})"), shown, title=name)


def ticks(low: float, high: float, most: int, least_step: float = 0.0) -> list[float]:
    """Finds round numbers from at most ``low`` to at least ``high``, about ``most`` of them, an equal step apart."""
    step = max((high - low) / most, least_step)
    power = math.floor(math.log10(step))
    step = next(digit * 10.0**power for digit in (1, 2, 5, 10) if digit * 10.0**power >= step * 0.999)
    places = max(0, 1 - power)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(number * step, places) + 0.0 for number in range(first, last + 1)]


def short(value: float) -> str:
    """Writes a number of an axis: ``0.25``, ``2,000``, ``1e-07``."""
    if value and not 1e-4 <= abs(value) < 1e6:
        return f"{value:.4g}"
    return f"{value:,.10g}"


class _Axes:
    def __init__(self, curves: Sequence[Curve], band: bool) -> None:
        points = [point for curve in curves for point in curve.points]
        values = [value for point in points for value in _values(point, band)]
        steps = [point.step for point in points] or [0]
        self.first, self.last = min(steps), max(steps)
        low, high = min(values, default=0.0), max(values, default=1.0)
        self.is_logarithmic = low > 0 and high / low >= _LOGARITHMIC_FROM
        if self.is_logarithmic:
            self._ticks = ticks(math.log10(low), math.log10(high), _MOST_LINES, least_step=1.0)
        else:
            low, high = (min(_LARGEST, max(-_LARGEST, value)) for value in (low, high))
            room = 0.0 if high > low else abs(high) * 0.05 or 1.0
            self._ticks = ticks(low - room, high + room, _MOST_LINES, least_step=max(abs(low), abs(high)) * 1e-7)
        self.has_values = bool(values)
        self.low, self.high = self._ticks[0], self._ticks[-1]

    def x(self, step: float) -> float:
        part = (step - self.first) / (self.last - self.first) if self.last > self.first else 0.5
        return round(_LEFT + part * (_WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: float) -> float:
        return self._height(math.log10(value) if self.is_logarithmic else value)

    def _height(self, at: float) -> float:
        part = (at - self.low) / (self.high - self.low)
        return round(_HEIGHT - _BOTTOM - min(1.0, max(0.0, part)) * (_HEIGHT - _TOP - _BOTTOM), 1)

    def grid(self) -> Html:
        parts = []
        if not self.has_values:
            middle = (_WIDTH + _LEFT) / 2
            parts.append(tag("text", "no finite value at any step", x=middle, y=_HEIGHT / 2, text_anchor="middle"))
        for at in self._ticks if self.has_values else ():
            y = self._height(at)
            parts.append(tag("line", class_="grid", x1=_LEFT, x2=_WIDTH - _RIGHT, y1=y, y2=y))
            label = (
                short(float(f"1e{at:.0f}")) if self.is_logarithmic else short(at)
            )  # 1e400 is infinite, 10**400 fails
            parts.append(tag("text", label, x=_LEFT - 6, y=y + 4, text_anchor="end"))
        parts.append(tag("text", "step", x=_LEFT - 14, y=_HEIGHT - 8, text_anchor="end"))
        for step in self._steps():
            y = _HEIGHT - _BOTTOM
            parts.append(tag("line", class_="grid", x1=self.x(step), x2=self.x(step), y1=y, y2=y + 4))
            parts.append(tag("text", f"{step:,.0f}", x=self.x(step), y=_HEIGHT - 8, text_anchor="middle"))
        return join(*parts)

    def _steps(self) -> list[float]:
        if self.first == self.last:
            return [self.first]
        found = ticks(self.first, self.last, _MOST_STEPS, least_step=1.0)
        return [step for step in found if self.first <= step <= self.last]

    def curve(self, curve: Curve, number: int, band: bool) -> Html:
        colour = f"var(--s{number})"
        path, is_down = [], False
        for point in curve.points:
            if point.value is None or not math.isfinite(point.value) or (self.is_logarithmic and point.value <= 0):
                is_down = False
                continue
            path.append(f"{'L' if is_down else 'M'}{self.x(point.step)} {self.y(point.value)}")
            is_down = True
        parts = [self._band(curve, colour) if band else None]
        if path:
            parts.append(tag("path", d="".join(path), style=f"stroke:{colour}", data_points=len(path)))
        if len(curve.points) <= _MOST_DOTS:
            parts += [self._dot(curve.name, point, colour) for point in curve.points]
        parts += [self._mark(point) for point in curve.points if point.bad]
        return tag("g", *parts)

    def _dot(self, name: str, point: Point, colour: str) -> Html | None:
        if point.value is None or not math.isfinite(point.value) or (self.is_logarithmic and point.value <= 0):
            return None
        said = tag("title", f"{name}, step {point.step}: {point.value:.6g}")
        return tag("circle", said, cx=self.x(point.step), cy=self.y(point.value), r=2.4, style=f"fill:{colour}")

    def _band(self, curve: Curve, colour: str) -> Html | None:
        known = [(p.step, p.low, p.high) for p in curve.points if p.low is not None and p.high is not None]
        known = [(step, low, high) for step, low, high in known if low > 0 or not self.is_logarithmic]
        if not known:
            return None
        if len(known) == 1:
            ((step, low, high),) = known
            return tag("path", d=f"M{self.x(step)} {self.y(low)}V{self.y(high)}", style=f"stroke:{colour}", opacity=0.4)
        there = [f"{self.x(step)} {self.y(high)}" for step, _, high in known]
        back = [f"{self.x(step)} {self.y(low)}" for step, low, _ in reversed(known)]
        return tag("path", class_="band", d=f"M{'L'.join([*there, *back])}Z", style=f"fill:{colour}")

    def _mark(self, point: Point) -> Html:
        x, y = self.x(point.step), _HEIGHT - _BOTTOM
        said = tag("title", f"step {point.step}: {point.bad:,} bad elements")
        return tag("line", said, class_="badmark", x1=x, x2=x, y1=y - 7, y2=y)


def _values(point: Point, band: bool) -> list[float]:
    wanted = (point.value, point.low, point.high) if band else (point.value,)
    return [value for value in wanted if value is not None and math.isfinite(value)]
