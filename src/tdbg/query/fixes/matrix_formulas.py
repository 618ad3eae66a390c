"""Formulas of linear algebra, with their pullbacks; a matrix that has no answer gives NaN.

All work on the last two axes.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tdbg.query.fixes.formulas import Array, Formula, Pullback


def jittered(formula: Formula, size: float) -> Formula:
    """The formula of ``A + size * eye``; other arrays stay as they are."""

    def run(a: Array, *others: Array) -> tuple[Array, Pullback]:
        return formula(a + a.dtype.type(size) * np.eye(a.shape[-2], a.shape[-1], dtype=a.dtype), *others)

    return run


def least_jitter(a: Array) -> float:
    """What is added to a diagonal must be more than the rounding errors of what is there."""
    size = float(np.abs(a).max(initial=0.0)) * a.shape[-1] * float(np.finfo(a.dtype).eps) * 8
    return max(1e-6, float(f"{size:.0e}"))


def _each(compute: Callable[[Array], Array], a: Array) -> Array:
    """Matrix by matrix, so that one without an answer leaves the others theirs."""
    flat = a.reshape(-1, *a.shape[-2:])
    return np.stack([_or_nan(compute, one) for one in flat]).reshape(a.shape)


def _or_nan(compute: Callable[[Array], Array], a: Array) -> Array:
    try:
        return compute(a)
    except np.linalg.LinAlgError:
        return np.full_like(a, np.nan)


def _turned(a: Array) -> Array:
    return np.swapaxes(a, -1, -2)


def inverse(a: Array) -> tuple[Array, Pullback]:
    y = _each(np.linalg.inv, a)
    return y, lambda g: (-_turned(y) @ g @ _turned(y),)


def determinant(a: Array) -> tuple[Array, Pullback]:
    y = np.linalg.det(a)
    return y, lambda g: ((g * y)[..., None, None] * _turned(_each(np.linalg.inv, a)),)


def log_determinant(a: Array) -> tuple[Array, Pullback]:
    """The logarithm of its absolute value."""
    return np.linalg.slogdet(a)[1], lambda g: (g[..., None, None] * _turned(_each(np.linalg.inv, a)),)


def solve(a: Array, b: Array) -> tuple[Array, Pullback]:
    turned_back = _each(np.linalg.inv, a)
    x = turned_back @ b

    def pull(g: Array) -> tuple[Array, ...]:
        to_b = _turned(turned_back) @ g
        return -to_b @ _turned(x), to_b

    return x, pull


def cholesky(a: Array) -> tuple[Array, Pullback]:
    lower = _each(np.linalg.cholesky, a)

    def pull(g: Array) -> tuple[Array, ...]:
        inner = np.tril(_turned(lower) @ np.tril(g))
        inner = inner - 0.5 * inner * np.eye(a.shape[-1], dtype=a.dtype)
        back = _each(np.linalg.inv, lower)
        to_a = _turned(back) @ inner @ back
        return (((to_a + _turned(to_a)) / 2).astype(a.dtype),)

    return lower, pull


def orthogonal(a: Array) -> tuple[Array, Pullback]:
    """The Q of a QR decomposition; its gradient divides by R."""
    q, r = np.linalg.qr(a)

    def pull(g: Array) -> tuple[Array, ...]:
        skew = _turned(g) @ q
        inner = np.tril(-skew, -1)
        inner = inner + _turned(inner) - skew * np.eye(q.shape[-1], dtype=a.dtype)
        return (((g + q @ inner) @ _turned(_each(_inverse_of_triangle, r))).astype(a.dtype),)

    return q, pull


def _inverse_of_triangle(r: Array) -> Array:
    """What should be 0 on the diagonal may be a rounding error, another one in each library."""
    diagonal = np.abs(np.diagonal(r))
    if diagonal.min() <= diagonal.max() * len(r) * np.finfo(r.dtype).eps:
        raise np.linalg.LinAlgError
    return np.linalg.inv(r)
