"""Matrices that have no inverse, no logarithm of their determinant, or no Cholesky factor."""

from __future__ import annotations

import numpy as np

from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule, slope_rule

_FIX = Fix("add a small multiple of the identity: tf.linalg.set_diag or A + 1e-6 * tf.eye(n)")
_DECIDES = {
    "LogMatrixDeterminant": "the log of its determinant is -inf",
    "MatrixDeterminant": "its determinant is out of range",
    "MatrixInverse": "it has no inverse",
    "MatrixSolve": "it cannot be solved for",
    "MatrixTriangularSolve": "its triangle has a 0 on the diagonal",
    "Cholesky": "it is not positive definite",
    "CholeskyGrad": "its factor has a 0 on the diagonal",
    "Qr": "its columns depend on each other",
    "MatrixSquareRoot": "it has no root",
    "MatrixLogarithm": "it has no logarithm",
}


@rule(*_DECIDES)
def singular(case: Case) -> Cause | None:
    return Cause("singular_matrix", f"the matrix is singular: {_DECIDES[case.op.type]}", _numbers(case), _FIX)


@slope_rule(
    "Qr", "Cholesky", "MatrixInverse", "LogMatrixDeterminant", "MatrixSolve", "MatrixDeterminant", "MatrixSquareRoot"
)
def singular_slope(case: Case) -> Cause | None:
    forward = case.forward_case
    what = case.forward.type if case.forward else case.op.type
    text = f"the matrix is singular, and the gradient of {what} divides by what is 0 there"
    return Cause("singular_matrix", text, _numbers(forward) if forward else (), _FIX)


@rule("Log")
def log_of_determinant(case: Case) -> Cause | None:
    x = case.input(0)
    if case.makers(0, 1) != ["MatrixDeterminant"] or x is None or not x.zero:
        return None
    return Cause("singular_matrix", "the matrix is singular: its determinant is exactly 0, and its log -inf", fix=_FIX)


@slope_rule("SelfAdjointEigV2", "Svd", "Eig")
def equal_eigenvalues(case: Case) -> Cause | None:
    text = "the gradient of the decomposition divides by differences of eigenvalues, and two of them are equal"
    return Cause("repeated_eigenvalues", text, fix=Fix("add a small random diagonal (jitter) to the matrix"))


def _numbers(case: Case) -> tuple[str, ...]:
    """Smallest and largest singular value of the first matrix that was kept."""
    matrix = case.input_values.get(0)
    if matrix is None or matrix.ndim < 2 or matrix.size > 1 << 20 or matrix.dtype.kind not in "f":
        return ()
    try:
        values = np.linalg.svd(matrix.astype(np.float64), compute_uv=False)
    except np.linalg.LinAlgError:
        return ()
    worst = values.reshape(-1, values.shape[-1])[int(np.argmin(values.min(axis=-1)))]
    return (f"its singular values go from {worst.max():.4g} down to {worst.min():.4g}",)
