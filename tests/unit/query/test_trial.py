"""Replacements executed on inputs: those that are still bad, forward or in the gradient, are rejected."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tdbg.query.causes.proposals import Proposal, propose
from tdbg.query.fixes import formulas as f
from tdbg.query.fixes.trial import Samples, attempt, is_good, run

PROBABILITIES = Samples((np.array([0.5, 0.0, 1.0], np.float32),))


def test_a_log_that_is_clipped_afterwards_is_rejected() -> None:
    """The clip of a well-known tutorial: its forward values are fine, its gradient is 0 · 1/0."""
    clipped = f.then(f.log, f.clip(1e-6, 1.0))
    value, (gradient,) = run(clipped, PROBABILITIES.arrays)
    assert np.isfinite(value).all()
    assert np.isnan(gradient[1])
    assert attempt(f.log, clipped, PROBABILITIES) is None
    assert propose(f.log, PROBABILITIES, Proposal("clip the log", clipped, "code")) is None


def test_a_log_whose_input_is_bounded_is_accepted() -> None:
    trial = attempt(f.log, f.then(f.at_least(1e-7), f.log), PROBABILITIES)
    assert trial is not None
    assert trial.before == "-inf with gradient inf"
    assert trial.after == "-16.12 with gradient 0, all 3 elements finite; the gradient is 0 at the 1 that was bad"


def test_an_epsilon_that_the_type_rounds_to_zero_is_rejected() -> None:
    half = Samples((np.array([0.5, 0.0], np.float16),))
    assert attempt(f.log, f.then(f.at_least(1e-8), f.log), half) is None
    assert attempt(f.log, f.then(f.at_least(1e-4), f.log), half) is not None


def test_what_was_not_bad_needs_no_fix() -> None:
    assert attempt(f.log, f.then(f.at_least(1e-7), f.log), Samples((np.ones(3, np.float32),))) is None


def test_the_first_proposal_that_works_is_taken_and_code_comes_first() -> None:
    bad, words, good = (
        Proposal("bad", f.then(f.log, f.at_least(-9.0)), "code"),
        Proposal("words", f.then(f.plus(1.0), f.log)),
        Proposal("good", f.then(f.at_least(1e-7), f.log), "code"),
    )
    fix = propose(f.log, PROBABILITIES, bad, words, good)
    assert fix is not None and (fix.text, fix.code) == ("good", "code") and fix.trial is not None


@pytest.mark.parametrize(
    ("before", "after", "inputs"),
    [
        (f.where(lambda x: x > 0, f.log), f.safe_where(lambda x: x > 0, f.log), ([0.0, 2.0],)),
        (f.divide, f.divide_no_nan, ([0.0, 1.0], [0.0, 0.0])),
        (f.sqrt, f.then(f.at_least(1e-12), f.sqrt), ([0.0, 4.0],)),
        (f.norm, f.safe_norm(1e-12), ([0.0, 0.0],)),
        (f.then(f.softmax, f.log), f.log_softmax, ([[0.0, -200.0]],)),
        (f.then(f.sigmoid, f.log), f.log_sigmoid, ([-200.0],)),
        (f.plain_softmax, f.softmax, ([0.0, 100.0],)),
        (f.x_log_x, f.xlogx, ([0.0, 0.5],)),
        (f.acos, f.then(f.clip(-0.999999, 0.999999), f.acos), ([1.0, -1.0],)),
    ],
)
def test_known_replacements(before: f.Formula, after: f.Formula, inputs: tuple) -> None:
    assert attempt(before, after, Samples(tuple(np.array(x, np.float32) for x in inputs))) is not None


UNARY = {
    "log": f.log, "log1p": f.log1p, "exp": f.exp, "sqrt": f.sqrt, "rsqrt": f.rsqrt, "reciprocal": f.reciprocal,
    "sigmoid": f.sigmoid, "log_sigmoid": f.log_sigmoid, "sinh": f.sinh, "x_log_x": f.x_log_x, "xlogx": f.xlogx,
    "asin": f.then(f.clip(-0.9, 0.9), f.asin), "acos": f.then(f.clip(-0.9, 0.9), f.acos),
    "atanh": f.then(f.clip(-0.9, 0.9), f.atanh), "acosh": f.then(f.plus(1.5), f.acosh), "softmax": f.softmax,
    "log_softmax": f.log_softmax, "plain_softmax": f.plain_softmax, "norm": f.norm, "l2_normalize": f.l2_normalize(),
}  # fmt: skip


@pytest.mark.parametrize("name", UNARY)
@settings(max_examples=20)
@given(x=arrays(np.float64, 3, elements=st.floats(0.1, 3.0)))
def test_gradients_are_those_of_small_differences(name: str, x: np.ndarray) -> None:
    formula, step = UNARY[name], 1e-6
    value, (gradient,) = run(formula, (x,))
    for at in range(3):
        moved = np.zeros(3)
        moved[at] = step
        if name in ("asin", "acos", "atanh") and abs(x[at] - 0.9) < 1e-4:
            continue  # the corner of the clip
        difference = (formula(x + moved)[0].sum() - formula(x - moved)[0].sum()) / (2 * step)
        assert gradient[at] == pytest.approx(difference, rel=1e-4, abs=1e-6)
    assert is_good(formula, (x,)) == (np.isfinite(value).all() and np.isfinite(gradient).all())
