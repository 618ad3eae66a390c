"""An op computed again in float64: what was range, and what was domain."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tdbg.query.fixes.rerun import in_float64
from tdbg.vocabulary import Kind


@pytest.mark.parametrize(
    ("kind", "inputs", "expected"),
    [
        (Kind.EXP, [100.0], True),
        (Kind.EXP, [1000.0], False),  # beyond float64 as well
        (Kind.LOG, [0.0], False),
        (Kind.MULTIPLY, [1e30, 1e30], True),
        (Kind.DIVIDE, [1.0, 0.0], False),
        (Kind.SQRT, [-1.0], False),
        (Kind.SUM, [[3e38, 3e38]], True),
        (Kind.OTHER, [1.0], None),
        (Kind.MATMUL, [[[1.0, 2.0]], [[1.0, 2.0]]], None),  # shapes that do not fit: it was transposed
    ],
)
def test_range_or_domain(kind: Kind, inputs: list, expected: bool | None) -> None:
    output = in_float64(kind, [np.array(x, np.float32) for x in inputs])
    assert (None if output is None else bool(np.isfinite(output).all())) is expected


def test_a_sum_along_the_recorded_axis() -> None:
    x, axis = np.full((2, 3), 60000, np.float16), np.array([1], np.int32)
    output = in_float64(Kind.SUM, [x, axis])
    assert output is not None and output.tolist() == [180000.0, 180000.0]


@given(st.floats(-1e3, 1e3, width=16))
def test_what_is_finite_in_half_is_the_same_in_float64(x: float) -> None:
    output = in_float64(Kind.SQUARE, [np.array(x, np.float16)])
    assert output is not None and output == float(np.float16(x)) ** 2


def test_nothing_to_compute_with() -> None:
    assert in_float64(Kind.EXP, []) is None


def test_a_product_with_a_square_matrix_is_left_alone() -> None:
    """Attention takes its second one turned, which its kind does not tell."""
    tall, square = np.ones((2, 4, 3), np.float16), np.ones((2, 3, 3), np.float16)
    assert in_float64(Kind.MATMUL, [tall, square]) is None
    assert in_float64(Kind.MATMUL, [tall, tall]) is None
    product = in_float64(Kind.MATMUL, [tall, np.ones((2, 3, 4), np.float16)])
    assert product is not None and product.tolist() == np.full((2, 4, 4), 3.0).tolist()
