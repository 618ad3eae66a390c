"""Charts and sparklines: scale, bad steps, many steps."""

import math

from hypothesis import given
from hypothesis import strategies as st

from tdbg.shell.plot_layout import layout
from tdbg.shell.result import Plot, plain
from tdbg.shell.sparkline import BARS, sparkline


def lines_of(series, width=60):
    block = layout(Plot("max_abs", series), width)
    return [plain(line) for line in block.lines(0, len(block))]


def test_one_series_is_a_chart_with_its_scale_and_steps():
    lines = lines_of({"x": [(step, float(step)) for step in range(11)]})
    assert lines[0] == "max_abs"
    assert lines[1].split()[0] == "10" and lines[-2].split()[0] == "0"
    assert lines[-1].split() == ["step", "0", "10"]
    assert lines[1].endswith("████") and not lines[1].rstrip("█ ").endswith("▁")


def test_bad_steps_are_marked_and_growth_is_logarithmic():
    points = [(step, 10.0**step) for step in range(8)] + [(8, math.nan), (9, math.inf)]
    lines = lines_of({"x": points})
    assert "logarithmic scale; × NaN, ∞ infinity" in lines[0]
    assert lines[-2].rstrip().endswith("××××∞∞∞∞")


def test_several_series_are_lines_with_their_ranges():
    lines = lines_of({"dense": [(0, 1.0), (1, 2.0)], "output/dense": [(0, math.nan), (1, 3.0)]})
    assert lines[1].split() == ["dense", "▁█", "1", "…", "2"]
    assert lines[2].split() == ["output/dense", "×▅", "3", "…", "3"]


def test_nothing_to_show_is_said():
    assert lines_of({"x": []}) == ["max_abs: no step has a value"]
    assert "×" in lines_of({"x": [(3, math.nan)]})[-2]


@given(st.lists(st.tuples(st.integers(0, 9), st.floats()), min_size=1, max_size=300), st.integers(1, 80))
def test_any_numbers_fit_the_width(points, width):
    line = plain(sparkline(points, width))
    assert 0 < len(line) <= width
    assert set(line) <= set(f"{BARS}×∞ ")
    for text in lines_of({"x": points}, 60):
        assert len(text) <= 75
