"""Matrices that have no inverse, no logarithm of their determinant, or no Cholesky factor."""

from __future__ import annotations

import numpy as np

from tdbg.query.causes import Cause, Fix, rule, slope_rule
from tdbg.query.causes.proposals import Proposal, code, propose
from tdbg.query.fixes import matrix_formulas as m
from tdbg.query.fixes.finders import argument_of
from tdbg.query.fixes.formulas import Formula
from tdbg.query.fixes.trial import samples_of
from tdbg.query.verdict.case import Case
from tdbg.vocabulary import Kind

_ROUNDING = 1e-4  # a share of the largest singular value: what is above was not left over by rounding
_TEXT = "add a small multiple of the identity to the matrix"
_DECIDES = {
    Kind.LOG_DETERMINANT: "the log of its determinant is -inf",
    Kind.DETERMINANT: "its determinant is not a number",
    Kind.INVERSE: "it has no inverse",
    Kind.SOLVE: "it cannot be solved for",
    Kind.TRIANGULAR_SOLVE: "its triangle has a 0 on the diagonal",
    Kind.CHOLESKY: "it is not positive definite",
    Kind.CHOLESKY_GRADIENT: "its factor has a 0 on the diagonal",
    Kind.QR: "its columns depend on each other",
    Kind.MATRIX_SQRT: "it has no root",
    Kind.MATRIX_LOG: "it has no logarithm",
}
# Of a kind of op: its formula, and how many of its inputs that takes.
_KNOWN: dict[Kind, tuple[Formula, int]] = {
    Kind.LOG_DETERMINANT: (m.log_determinant, 1),
    Kind.INVERSE: (m.inverse, 1),
    Kind.SOLVE: (m.solve, 2),
    Kind.CHOLESKY: (m.cholesky, 1),
    Kind.QR: (m.orthogonal, 1),
}


@rule(Kind.DETERMINANT)
def determinant_overflow(case: Case) -> Cause | None:
    if case.row.nan or not (case.row.pos_inf or case.row.neg_inf):
        return None
    words = f"{case.dialect.says('slogdet')} gives the logarithm of the determinant, which does not overflow"
    fix = propose(m.determinant, samples_of(case, 0), Proposal(words, m.log_determinant))
    return Cause("mul_overflow", f"the determinant is larger than {case.row.label} can hold", _numbers(case), fix)


@rule(*_DECIDES)
def singular(case: Case) -> Cause | None:
    values = _singular_values(case)
    lowest = _lowest_eigenvalue(case) if case.op.kind == Kind.CHOLESKY else None
    if lowest is not None and lowest < 0 and values is not None and -lowest > values.max() * _ROUNDING:
        text = f"the matrix is not positive definite: its smallest eigenvalue is {lowest:.4g}"
        words = "check how the matrix is computed: a covariance, or A times its transpose, has no negative eigenvalue"
        return Cause("singular_matrix", text, _numbers(case), Fix(words))
    if values is not None and case.op.kind != Kind.CHOLESKY and values.min() > values.max() * _ROUNDING:
        return None
    text = f"the matrix is singular: {_DECIDES[case.op.kind]}"
    return Cause("singular_matrix", text, _numbers(case), _with_jitter(case, case))


@slope_rule(Kind.QR, Kind.CHOLESKY, Kind.INVERSE, Kind.LOG_DETERMINANT, Kind.SOLVE, Kind.DETERMINANT, Kind.MATRIX_SQRT)
def singular_slope(case: Case) -> Cause | None:
    if case.op.kind not in _DECIDES:  # what its gradient does else proves nothing about the matrix
        return None
    forward = case.forward_case
    what = case.forward.type if case.forward else case.op.type
    text = f"the matrix is singular, and the gradient of {what} divides by a value that is 0 there"
    return Cause("singular_matrix", text, _numbers(forward) if forward else (), _with_jitter(case, forward))


def _with_jitter(case: Case, at: Case | None) -> Fix | None:
    known = _KNOWN.get(at.op.kind) if at is not None else None
    matrix = at.input_values.get(0) if at is not None else None
    if known is None or at is None or matrix is None or matrix.ndim < 2 or matrix.dtype not in (np.float32, np.float64):
        words = Fix(_jitter(case, 1e-6))
        return words if known is None else Fix(words.text, untried="the matrix was not kept")
    formula, inputs = known
    sizes = [m.least_jitter(matrix) * more for more in (1, 100, 10_000)]
    proposals = [_proposal(case, formula, at.op.kind, size) for size in sizes]
    return propose(formula, samples_of(at, *range(inputs)), *proposals)


def _proposal(case: Case, formula: Formula, kind: Kind, size: float) -> Proposal:
    eye = case.dialect.write("eye_like", "{0}", case.row.label)
    changed = code(case, argument_of(kind), eye and f"{{0.operand}} + {size:g} * {eye.operand}")
    return Proposal(_jitter(case, size), m.jittered(formula, size), changed)


def _jitter(case: Case, size: float) -> str:
    return f"{_TEXT}: A + {size:g} * {case.dialect.says('eye', 'n')}"


@rule(Kind.LOG)
def log_of_determinant(case: Case) -> Cause | None:
    x = case.input(0)
    if case.makers(0, 1) != [Kind.DETERMINANT] or x is None or not x.zero:
        return None
    text = "the matrix is singular: its determinant is exactly 0, and its log -inf"
    logdet = case.dialect.says("logdet")
    words = f"{_TEXT} before its determinant is taken; {logdet} overflows later than log(det(x))"
    return Cause("singular_matrix", text, fix=Fix(words))


@slope_rule(Kind.SYMMETRIC_EIGEN, Kind.SVD, Kind.EIGEN)
def equal_eigenvalues(case: Case) -> Cause | None:
    below = case.inputs[-1].row if case.inputs and case.op.kind in (Kind.DIVIDE, Kind.RECIPROCAL) else None
    if below is None or not below.zero:
        return None
    text = "the gradient of the decomposition divides by differences of eigenvalues, and two of them are equal"
    return Cause("repeated_eigenvalues", text, fix=Fix("add a small random diagonal (jitter) to the matrix"))


def _matrix(case: Case) -> np.ndarray | None:
    """The first matrix, when it was kept."""
    matrix = case.input_values.get(0)
    is_usable = matrix is not None and matrix.ndim >= 2 and matrix.size <= 1 << 20 and matrix.dtype.kind == "f"
    return matrix.astype(np.float64) if matrix is not None and is_usable else None


def _singular_values(case: Case) -> np.ndarray | None:
    """Of the matrix, or of those in a batch the one that is nearest to a singular one."""
    matrix = _matrix(case)
    if matrix is None or matrix.size == 0:
        return None
    try:
        values = np.linalg.svd(matrix, compute_uv=False)
    except np.linalg.LinAlgError:
        return None
    values = values.reshape(-1, values.shape[-1])
    with np.errstate(all="ignore"):
        return values[int(np.argmin(np.nan_to_num(values.min(axis=-1) / values.max(axis=-1))))]


def _lowest_eigenvalue(case: Case) -> float | None:
    matrix = _matrix(case)
    try:
        return None if matrix is None else float(np.linalg.eigvalsh(matrix).min())
    except np.linalg.LinAlgError:
        return None


def _numbers(case: Case) -> tuple[str, ...]:
    values = _singular_values(case)
    return () if values is None else (f"its singular values go from {values.max():.4g} down to {values.min():.4g}",)
