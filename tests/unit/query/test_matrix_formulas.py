"""Linear algebra executed: its gradients are those of small differences, and only enough jitter is a fix."""

from __future__ import annotations

import numpy as np
import pytest

from tdbg.query.causes.proposals import Proposal, propose
from tdbg.query.fixes import matrix_formulas as m
from tdbg.query.fixes.formulas import Formula
from tdbg.query.fixes.trial import Samples, attempt, run

SINGULAR = np.array([[1.0, 2.0], [2.0, 4.0]], np.float32)
MATRIX = np.array([[2.0, 0.3, 0.1], [0.3, 1.5, 0.4], [0.1, 0.4, 1.8]])


@pytest.mark.parametrize("name", ["inverse", "determinant", "log_determinant", "cholesky", "orthogonal"])
def test_gradients_are_those_of_small_differences(name: str) -> None:
    formula, step = getattr(m, name), 1e-6
    _, (gradient,) = run(formula, (MATRIX,))
    for at in np.ndindex(3, 3):
        moved = np.zeros((3, 3))
        moved[at] += step / 2
        moved[at[::-1]] += step / 2  # the gradient of a Cholesky factor is that of a symmetric change
        both = (gradient[at] + gradient[at[::-1]]) / 2
        difference = (formula(MATRIX + moved)[0].sum() - formula(MATRIX - moved)[0].sum()) / (2 * step)
        assert both == pytest.approx(difference, rel=1e-4, abs=1e-6)


def test_both_gradients_of_a_solution() -> None:
    b, step = np.array([[1.0], [2.0], [3.0]]), 1e-6
    _, (to_matrix, to_right) = run(m.solve, (MATRIX, b))
    moved = np.zeros((3, 3))
    moved[1, 2] = step
    difference = (m.solve(MATRIX + moved, b)[0].sum() - m.solve(MATRIX - moved, b)[0].sum()) / (2 * step)
    assert to_matrix[1, 2] == pytest.approx(difference, rel=1e-4)
    assert to_right[:, 0] == pytest.approx(np.linalg.inv(MATRIX).sum(axis=0))


@pytest.mark.parametrize("formula", [m.log_determinant, m.cholesky, m.inverse, m.orthogonal])
def test_jitter_makes_a_singular_matrix_good(formula: Formula) -> None:
    assert attempt(formula, m.jittered(formula, m.least_jitter(SINGULAR)), Samples((SINGULAR,))) is not None


def test_a_jitter_that_is_rounded_away_is_never_proposed() -> None:
    large = SINGULAR * np.float32(1e6)
    too_small = Proposal("add next to nothing", m.jittered(m.inverse, 1e-6))
    assert propose(m.inverse, Samples((large,)), too_small) is None
    assert m.least_jitter(large) > 1


def test_one_singular_matrix_leaves_the_others_theirs() -> None:
    y, _ = m.inverse(np.stack([SINGULAR, np.eye(2, dtype=np.float32)]))
    assert np.isfinite(y[1]).all()
    assert np.isnan(m.cholesky(np.stack([-np.eye(2), np.eye(2)]))[0][0]).all()
