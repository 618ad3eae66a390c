"""Formulas of sums and products, in the type of their arrays or a wider one, with their pullbacks.

As in ``formulas``: value first, then the function that takes an upstream gradient to those of the inputs.
"""

from __future__ import annotations

import numpy as np

from tdbg.query.fixes.formulas import Array, Formula, Pullback, in_type


def total(x: Array) -> tuple[Array, Pullback]:
    return np.asarray(x.sum()), lambda g: (g * np.ones_like(x),)


def mean(x: Array) -> tuple[Array, Pullback]:
    """As frameworks compute it: the sum in the type of the array, then divided; 0/0 of no elements."""
    count = in_type(x, x.size)
    return np.asarray(x.sum() / count), lambda g: (g / count * np.ones_like(x),)


def mean_or_zero(x: Array) -> tuple[Array, Pullback]:
    """The sum divided by max(count, 1)."""
    count = in_type(x, max(x.size, 1))
    return np.asarray(x.sum() / count), lambda g: (g / count * np.ones_like(x),)


def multiplied(x: Array) -> tuple[Array, Pullback]:
    """The product of all elements."""
    y = np.asarray(x.prod())
    return y, lambda g: (g * y / x,)


def half_of_squares(x: Array) -> tuple[Array, Pullback]:
    """``sum(x * x) / 2``"""
    return np.asarray((x * x).sum() / in_type(x, 2)), lambda g: (g * x,)


def product(a: Array, b: Array) -> tuple[Array, Pullback]:
    return a * b, lambda g: (g * b, g * a)


def add(a: Array, b: Array) -> tuple[Array, Pullback]:
    return a + b, lambda g: (g, g)


def subtract(a: Array, b: Array) -> tuple[Array, Pullback]:
    return a - b, lambda g: (g, -g)


def squared_difference(a: Array, b: Array) -> tuple[Array, Pullback]:
    return (a - b) * (a - b), lambda g: (g * 2 * (a - b), -g * 2 * (a - b))


def dot(a: Array, b: Array) -> tuple[Array, Pullback]:
    """One element of a matrix product."""
    return np.asarray((a * b).sum()), lambda g: (g * b, g * a)


def cast(dtype: type, largest: float | None = None) -> Formula:
    """To another type; ``largest`` where numpy has no such type, and only its range is kept."""

    def run(x: Array) -> tuple[Array, Pullback]:
        y: Array = x.astype(dtype)
        if largest is not None:
            y = np.where(np.abs(y) > dtype(largest), np.nan, y).astype(dtype)
        return y, lambda g: (g.astype(x.dtype),)

    return run


def scaled(formula: Formula, factor: float) -> Formula:
    """The formula of an array that was multiplied by a factor, and divided by it afterwards."""

    def run(x: Array) -> tuple[Array, Pullback]:
        y, back = formula(x * in_type(x, factor))
        return y.astype(x.dtype) / in_type(x, factor), lambda g: (back(g.astype(y.dtype))[0],)

    return run


def widened(formula: Formula) -> Formula:
    """The same formula, computed in float32 (float64 for what is wide already); gradients go back to the old type."""

    def run(*arrays: Array) -> tuple[Array, Pullback]:
        value, back = formula(*(x.astype(np.float64 if x.dtype.itemsize >= 4 else np.float32) for x in arrays))
        return value, lambda g: tuple(one.astype(x.dtype) for one, x in zip(back(g), arrays, strict=False))

    return run
