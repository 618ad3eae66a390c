"""Matrices that have no inverse, no logarithm of their determinant, or no Cholesky factor."""

from __future__ import annotations

import numpy as np

from tdbg.query import matrix_formulas as m
from tdbg.query import rewrite as r
from tdbg.query.case import Case
from tdbg.query.causes import Cause, Fix, rule, slope_rule
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.formulas import Formula
from tdbg.query.trial import samples_of

_TEXT = "add a small multiple of the identity to the matrix"
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
# Of an op type: its formula, how many of its inputs that takes, and the names by which it is called.
_KNOWN: dict[str, tuple[Formula, int, tuple[str, ...]]] = {
    "LogMatrixDeterminant": (m.log_determinant, 1, ("slogdet", "logdet", "log_matrix_determinant")),
    "MatrixInverse": (m.inverse, 1, ("inv",)),
    "MatrixSolve": (m.solve, 2, ("solve",)),
    "Cholesky": (m.cholesky, 1, ("cholesky",)),
    "Qr": (m.orthogonal, 1, ("qr",)),
}


@rule(*_DECIDES)
def singular(case: Case) -> Cause | None:
    text = f"the matrix is singular: {_DECIDES[case.op.type]}"
    return Cause("singular_matrix", text, _numbers(case), _with_jitter(case, case))


@slope_rule(
    "Qr", "Cholesky", "MatrixInverse", "LogMatrixDeterminant", "MatrixSolve", "MatrixDeterminant", "MatrixSquareRoot"
)
def singular_slope(case: Case) -> Cause | None:
    forward = case.forward_case
    what = case.forward.type if case.forward else case.op.type
    text = f"the matrix is singular, and the gradient of {what} divides by what is 0 there"
    return Cause("singular_matrix", text, _numbers(forward) if forward else (), _with_jitter(case, forward))


def _with_jitter(case: Case, at: Case | None) -> Fix | None:
    known = _KNOWN.get(at.op.type) if at is not None else None
    matrix = at.input_values.get(0) if at is not None else None
    if known is None or at is None or matrix is None or matrix.ndim < 2 or matrix.dtype not in (np.float32, np.float64):
        words = Fix(f"{_TEXT}: A + 1e-6 * tf.eye(n)")
        return words if known is None else Fix(words.text, untried="the matrix was not kept")
    formula, inputs, names = known
    smallest = m.least_jitter(matrix)
    return propose(
        formula,
        samples_of(at, *range(inputs)),
        *(_proposal(case, formula, names, smallest * more) for more in (1, 100, 10_000)),
    )


def _proposal(case: Case, formula: Formula, names: tuple[str, ...], size: float) -> Proposal:
    eye = f"{size:g} * {{tf}}.eye({{tf}}.shape({{0}})[-1], dtype={case.row.label!r})"
    changed = code(case, r.call(*names), f"{{2}}({{0}} + {eye}{{1}})")
    return Proposal(f"{_TEXT}: A + {size:g} * tf.eye(n)", m.jittered(formula, size), changed)


@rule("Log")
def log_of_determinant(case: Case) -> Cause | None:
    x = case.input(0)
    if case.makers(0, 1) != ["MatrixDeterminant"] or x is None or not x.zero:
        return None
    text = "the matrix is singular: its determinant is exactly 0, and its log -inf"
    fix = Fix(f"{_TEXT} before its determinant is taken; tf.linalg.logdet overflows later than both in turn")
    return Cause("singular_matrix", text, fix=fix)


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
