"""Computes ops again, in float64, on the inputs that were recorded.

What is finite there went beyond the range or the precision of its type; what is bad there too is outside the domain of
the op, and no wider type helps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tdbg.vocabulary import Kind


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _elu(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(x < 0, np.expm1(x), x))


def _matmul(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Only where the shapes tell that neither is taken turned: the kind of an op does not."""
    if any(x.ndim < 2 or x.shape[-2] == x.shape[-1] for x in (a, b)):
        raise ValueError("a square matrix may be taken turned")
    return np.matmul(a, b)


def _over(reduce: Callable) -> Callable:
    def along(x: np.ndarray, axis: np.ndarray | None = None) -> np.ndarray:
        return reduce(x, axis=None if axis is None else tuple(int(a) for a in np.atleast_1d(axis)))

    return along


_OPS: dict[Kind, Callable[..., np.ndarray]] = {
    Kind.LOG: np.log,
    Kind.LOG1P: np.log1p,
    Kind.EXP: np.exp,
    Kind.EXPM1: np.expm1,
    Kind.SQRT: np.sqrt,
    Kind.RSQRT: lambda x: 1.0 / np.sqrt(x),
    Kind.RECIPROCAL: np.reciprocal,
    Kind.SQUARE: np.square,
    Kind.SQUARED_DIFFERENCE: lambda a, b: np.square(a - b),
    Kind.MULTIPLY: np.multiply,
    Kind.ADD: np.add,
    Kind.SUBTRACT: np.subtract,
    Kind.DIVIDE: np.divide,
    Kind.POWER: np.power,
    Kind.MODULO: np.mod,
    Kind.ACOS: np.arccos,
    Kind.ASIN: np.arcsin,
    Kind.ACOSH: np.arccosh,
    Kind.ATANH: np.arctanh,
    Kind.SINH: np.sinh,
    Kind.COSH: np.cosh,
    Kind.SOFTPLUS: lambda x: np.logaddexp(x, 0.0),
    Kind.SOFTMAX: _softmax,
    Kind.SUM: _over(np.sum),
    Kind.MEAN: _over(np.mean),
    Kind.PRODUCT: _over(np.prod),
    Kind.HALF_SQUARES: lambda x: np.sum(np.square(x)) / 2,
    Kind.MATMUL: _matmul,
    Kind.SQRT_GRADIENT: lambda y, g: 0.5 * g / y,
    Kind.RSQRT_GRADIENT: lambda y, g: -0.5 * g * y**3,
    Kind.CAST: lambda x: x,
    Kind.NEGATE: np.negative,
    Kind.ABS: np.abs,
    Kind.RELU: lambda x: np.maximum(x, 0.0),
    Kind.RELU6: lambda x: np.clip(x, 0.0, 6.0),
    Kind.ELU: _elu,
    Kind.SIGMOID: lambda x: 1.0 / (1.0 + np.exp(-x)),
    Kind.TANH: np.tanh,
    Kind.SIN: np.sin,
    Kind.COS: np.cos,
    Kind.TAN: np.tan,
    Kind.ATAN: np.arctan,
    Kind.ASINH: np.arcsinh,
    Kind.FLOOR: np.floor,
    Kind.CEIL: np.ceil,
    Kind.ROUND: np.rint,
}


def in_float64(kind: Kind, inputs: list[np.ndarray]) -> np.ndarray | None:
    """The op's output in float64; None for a kind of op, or inputs, that this cannot compute."""
    compute = _OPS.get(kind)
    if compute is None or not inputs:
        return None
    wide = [x.astype(np.float64) if x.dtype.kind not in "iub" else x for x in inputs]
    try:
        with np.errstate(all="ignore"):
            return np.asarray(compute(*wide))
    except (ValueError, TypeError, ArithmeticError):
        return None
