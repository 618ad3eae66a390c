"""Axes of plots: round numbers that hold every value, whatever the values are."""

from __future__ import annotations

import math
import re

import pytest

from tdbg.query.over_time.curves import Curve, Point
from tdbg.report.plots import plot, short, ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0.288, 2.32, [0, 0.5, 1, 1.5, 2, 2.5]),
        (-85.7, 0.0, [-100, -80, -60, -40, -20, 0]),
        (1.751, 1.789, [1.75, 1.76, 1.77, 1.78, 1.79]),
        (0, 29, [0, 10, 20, 30]),
        (-4e307, 4e307, [-4e307, -2e307, 0, 2e307, 4e307]),
        (3e-9, 3e-8, [0, 1e-8, 2e-8, 3e-8]),
    ],
)
def test_ticks_are_round_and_hold_the_range(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high, 5) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (2000.0, "2,000"), (0.25, "0.25"), (1e-7, "1e-07"), (3e7, "3e+07")]
)
def test_a_number_of_an_axis_is_short(value: float, text: str) -> None:
    assert short(value) == text


@pytest.mark.parametrize(
    "values",
    [[1e308, -1e308, 1.0], [5.0, 5.0], [0.0], [1e-300, 1e300], [math.inf, 1.0], [], [1e7 + 1, 1e7 + 2], [5e-324, 1.0]],
    ids=str,
)
def test_whatever_the_values_are_all_that_is_drawn_lies_inside(values: list[float]) -> None:
    points = [Point(step, value, value, value, 0) for step, value in enumerate(values)]
    html = plot("any", [Curve("one", tuple(points)), Curve("none", (Point(0, None, None, None, 3),))], "", band=True)
    assert "nan" not in html and 'inf"' not in html
    finite = [value for value in values if math.isfinite(value)]
    heights = [float(y) for y in re.findall(r'cy="([-\d.]+)"', html)]
    assert len(heights) == len(finite)
    assert all(0 <= y <= 210 for y in heights)
    assert ("no finite value" in html) == (not finite)
