"""Numeric summaries and histograms as lines."""

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tdbg.shell.numeric_summary import histogram, histogram_text, summary_of, summary_text
from tdbg.shell.result import plain


def said(array):
    summary = summary_of(array)
    return [plain(line) for line in summary_text(summary, str(array.dtype)).lines]


def test_the_table_that_people_know():
    values = np.array([-np.inf] * 400 + [-1.0] * 510 + [0.0] * 90, np.float32)
    assert said(values) == [
        "Numeric summary:",
        "| -inf    -    0 | total |",
        "|  400  510   90 |  1000 |",
        "|        min        max       mean        std |",
        "|         -1          0      -0.85 0.35707142 |",
        "",
    ]


def test_other_types():
    assert said(np.array([True, False, True]))[1:3] == ["| False  True | total |", "|     1     2 |     3 |"]
    assert said(np.array([3, 200], np.int64))[4].split() == ["|", "3", "200", "101.5", "98.5", "|"]
    assert said(np.array([np.nan], ml_dtypes.bfloat16))[1:] == ["| nan | total |", "|   1 |     1 |", ""]
    assert "(of real and imaginary parts)" in said(np.array([1 + 2j]))
    assert summary_of(np.array([b"a"], object)) is None
    assert summary_of(np.zeros(0)) is None


@given(arrays(np.float64, st.integers(1, 50)))
def test_a_histogram_counts_every_finite_element_once(values):
    counts, edges = histogram(values)
    assert counts.sum() == np.isfinite(values).sum()
    if len(counts) > 1:
        assert edges[0] <= values[np.isfinite(values)].min() and (np.diff(edges) > 0).all()


@pytest.mark.parametrize(
    ("values", "rows"),
    [
        (np.array([1, 2, 2, 4]), ["1", "2", "3", "4"]),
        (np.array([5.0, 5.0, np.nan]), ["5"]),
        (np.array([True, False]), ["0", "1"]),
    ],
)
def test_few_different_values_have_a_row_each(values, rows):
    lines = [plain(line) for line in histogram_text(values).lines[1:-1]]
    assert [line.split()[0] for line in lines] == rows


def test_what_has_no_histogram():
    assert "no finite elements" in plain(histogram_text(np.array([np.nan])).lines[0])
    assert "np.abs" in plain(histogram_text(np.array([1j])).lines[0])
