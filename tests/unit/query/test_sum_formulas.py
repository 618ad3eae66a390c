"""Sums and products executed: gradients are those of small differences; a type that is wide enough is a fix."""

from __future__ import annotations

import numpy as np
import pytest

from tdbg.query.fixes import formulas as f
from tdbg.query.fixes import sum_formulas as s
from tdbg.query.fixes.trial import Samples, attempt, run

TWO = {
    "product": s.product, "add": s.add, "subtract": s.subtract, "squared_difference": s.squared_difference,
    "dot": s.dot, "atan2": f.atan2, "floor_mod": f.floor_mod, "xlogy": f.xlogy, "xlog1py": f.xlog1py,
}  # fmt: skip
ONE = {
    "total": s.total, "mean": s.mean, "multiplied": s.multiplied, "half_of_squares": s.half_of_squares,
    "tanh": f.tanh, "erfinv": f.then(f.clip(-0.9, 0.9), f.erfinv), "ndtri": f.then(f.clip(0.1, 0.9), f.ndtri),
}  # fmt: skip


@pytest.mark.parametrize("name", TWO)
def test_gradients_of_two_arrays(name: str) -> None:
    a, b, step = np.array([0.7, 2.5]), np.array([0.4, 1.2]), 1e-6
    _, gradients = run(TWO[name], (a, b))
    for which in (0, 1):
        moved = [np.zeros(2), np.zeros(2)]
        moved[which][1] = step
        above = TWO[name](a + moved[0], b + moved[1])[0].sum()
        below = TWO[name](a - moved[0], b - moved[1])[0].sum()
        assert gradients[which][1] == pytest.approx((above - below) / (2 * step), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("name", ONE)
def test_gradients_of_one_array(name: str) -> None:
    x, step = np.array([0.3, 0.6]), 1e-6
    _, (gradient,) = run(ONE[name], (x,))
    moved = np.array([0.0, step])
    difference = (ONE[name](x + moved)[0].sum() - ONE[name](x - moved)[0].sum()) / (2 * step)
    assert gradient[1] == pytest.approx(difference, rel=1e-4)


@pytest.mark.parametrize(
    ("before", "after", "inputs"),
    [
        (s.total, s.widened(s.total), ([60000.0, 60000.0],)),
        (s.product, s.widened(s.product), ([300.0], [300.0])),
        (s.dot, s.widened(s.dot), ([200.0] * 4, [200.0] * 4)),
        (f.square, s.widened(f.square), ([300.0],)),
    ],
)
def test_a_wider_type_holds_what_half_cannot(before: f.Formula, after: f.Formula, inputs: tuple) -> None:
    assert attempt(before, after, Samples(tuple(np.array(x, np.float16) for x in inputs))) is not None


def test_a_wider_type_does_not_help_where_the_gradient_goes_back_into_the_old_one() -> None:
    half = Samples((np.array([60000.0], np.float16),))  # its slope is 120,000
    assert attempt(f.square, s.widened(f.square), half) is None


def test_a_cast_that_overflows() -> None:
    wide = Samples((np.array([1e6, 1.0], np.float32),))
    trial = attempt(s.cast(np.float16), s.cast(np.float32), wide)
    assert trial is not None and trial.before == "inf with gradient 1"
    eight = s.cast(np.float32, 448.0)
    assert attempt(eight, s.scaled(eight, 448.0 / 1e6 * 0.99), wide) is not None
    assert attempt(eight, s.scaled(eight, 0.5), wide) is None


def test_the_mean_of_nothing() -> None:
    nothing = Samples((np.zeros(0, np.float32),), "an empty tensor")
    trial = attempt(s.mean, s.mean_or_zero, nothing)
    assert trial is not None and (trial.before, trial.after) == ("nan", "0, finite")
