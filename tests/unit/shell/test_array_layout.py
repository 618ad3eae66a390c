"""Arrays as lines: every element in its place, large ones at once, every element type."""

import re

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from tdbg.errors import TdbgError
from tdbg.shell.array_layout import MOST_WHOLE, layout
from tdbg.shell.result import Array, plain
from tdbg.shell.tensor_part import TensorPart

NUMBER = re.compile(r"[+-]?(?:nan|inf|\d+\.?\d*(?:e[+-]\d+)?)")
LARGE = np.broadcast_to(np.arange(1000, dtype=np.float32), (80_000, 1000))  # 80 million elements


def lines_of(values, width=80, **options):
    block = layout(Array("x", values, **options), width)
    return [plain(line) for line in block.lines(0, len(block))]


def test_small_arrays_read_as_numpy_prints_them():
    values = np.array([[0.5, -np.inf, 3.0], [np.nan, 0.25, 10.0]], np.float32)
    assert lines_of(values) == ["array([[ 0.5 ,  -inf,  3.  ],", "       [  nan,  0.25, 10.  ]])"]
    assert lines_of(np.float32(3.5)) == ["array(3.5, dtype=float32)"]
    assert lines_of(np.zeros((0, 3), np.int32)) == ["array([], shape=(0, 3), dtype=int32)"]


@pytest.mark.parametrize(
    ("values", "line"),
    [
        (np.array([True, False]), "array([ True, False])"),
        (np.array([-1, 200]), "array([ -1, 200])"),
        (np.array([b"one", b"two" * 50], object), "array([b'one'" + " " * 34 + ", b'" + "two" * 12 + "…'])"),
        (np.array([1 + 2j, 3.5 - 1j]), "array([1. +2.j, 3.5-1.j])"),
        (np.array([1, 0.5, np.nan, -np.inf], ml_dtypes.bfloat16), "array([ 1. ,  0.5,  nan, -inf])"),
        (np.array([1e-20, 1.0]), "array([1.e-20, 1.e+00])"),
        (np.array([0.1, 0.1], np.float16), "array([0.1, 0.1])"),
    ],
)
def test_every_element_type(values, line):
    assert lines_of(values, 120) == [line]


@settings(max_examples=60, deadline=None)
@given(arrays(np.float32, array_shapes(min_dims=1, max_dims=4, max_side=7)), st.integers(20, 120))
def test_all_elements_are_shown_in_order(values, width):
    shown = [
        float(number)
        for line in lines_of(values, width, shows_all=True)
        for number in NUMBER.findall(re.sub(r"^\[[\d, :]*\]|array", "", line))
    ]
    assert len(shown) == values.size
    np.testing.assert_allclose(np.array(shown), values.reshape(-1).astype(float), rtol=1e-6, atol=1e-8)


@settings(max_examples=60, deadline=None)
@given(array_shapes(min_dims=1, max_dims=4, max_side=40), st.booleans(), st.integers(30, 120), st.data())
def test_an_element_is_on_the_line_that_is_told(shape, shows_all, width, data):
    values = np.arange(int(np.prod(shape))).reshape(shape)
    block = layout(Array("x", values, shows_all=shows_all), width)
    index = tuple(data.draw(st.integers(0, size - 1)) for size in shape)
    line = block.line_of(index)
    if line is None:
        assert not shows_all and values.size > MOST_WHOLE
        return
    (shown,) = block.lines(line, line + 1)
    elements = re.sub(r"^\[[\d, :]*\] ", "", plain(shown))
    assert str(values[index]) in re.findall(r"\d+", elements)


def test_eighty_million_elements_are_laid_out_at_once():
    whole = layout(Array("x", LARGE, shows_all=True), 100)
    assert len(whole) > 5_000_000
    (line,) = whole.lines(whole.line_of((79_999, 999)), len(whole))
    assert plain(line).rstrip().endswith("999.]]")
    assert plain(line).startswith("[79999, ")
    short = lines_of(LARGE)
    assert len(short) == 17 and "...," in short[8]
    assert all(len(line) <= 80 for line in short)


def test_a_negative_index_counts_from_the_end_and_others_are_refused():
    block = layout(Array("x", np.arange(6).reshape(2, 3)), 80)
    assert block.line_of((-1, -1)) == 1
    for wrong in ((0,), (2, 0), (0, -4), (0, 0, 0)):
        with pytest.raises(TdbgError, match=r"fit|shown"):
            block.line_of(wrong)


def test_places_are_those_of_the_whole_tensor():
    part = TensorPart.of((1000, 40), (slice(500, 600), slice(7, 27)))
    block = layout(Array("x", np.arange(2000).reshape(100, 20), shows_all=True, part=part), 250)
    assert plain(block.lines(3, 4)[0]).startswith("[503, 7:27]")
    assert block.line_of((503, 8)) == 3


@pytest.mark.parametrize(
    ("index", "label"),
    [
        ((slice(0, 50), slice(None)), "[0:50, :]"),
        ((slice(0, 50), slice(None, None, 2)), "[0:50, ::2]"),
        ((5, slice(490, None)), "[5, 490:500]"),
        ((Ellipsis, -1), "[:, 499]"),
        ((slice(None, None, -1),), "[99::-1, :]"),
    ],
)
def test_a_part_is_written_in_the_numbers_of_the_whole_tensor(index, label):
    assert TensorPart.of((100, 500), index).label() == label


def test_the_labels_of_a_slice_with_steps_are_those_of_its_rows():
    values = np.arange(50_000).reshape(100, 500)
    part = TensorPart.of(values.shape, (slice(20, 70), slice(None, None, 2)))
    first, *_, last = (plain(line) for line in layout(Array("x", values[20:70, ::2], part=part), 80).lines(0, 100))
    assert first.startswith("[20, ::2] [[10000, 10002") and last.startswith("[69, ::2]  [34500")


def test_classes_and_ranges_have_styles():
    values = np.array([np.nan, -np.inf, 0.0, -2.0, 3.0])
    (line,) = layout(Array("x", values, ranges=[(2.5, np.inf)]), 80).lines(0, 1)
    styles = {span.text.strip(): span.style for span in line if span.style}
    assert styles == {"nan": "nan", "-inf": "inf", "0.": "zero", "-2.": "negative", "3.": "match"}


def test_pages_of_higher_dimensions_are_named():
    lines = lines_of(np.zeros((2, 1, 2, 2)))
    assert [line for line in lines if line.startswith("[")] == ["[0, 0, :, :]", "[1, 0, :, :]"]


def test_an_element_that_no_sample_has_is_written_in_full():
    values = np.zeros((3, 1000), np.float32)
    values[1, 501:504] = 0.1234567, 123456789.0, 1e-7
    block = layout(Array("x", values, shows_all=True), 100)
    lines = [
        plain(line) for at in (501, 502, 503) for line in block.lines(*(block.line_of((1, at)) + n for n in (0, 1)))
    ]
    assert "0.1234567," in lines[0] and "1.2345679e+08," in lines[1] and "1.e-07," in lines[2]
