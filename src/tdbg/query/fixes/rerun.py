"""An op type and its recorded inputs in, its output computed in float64 out.

What is finite there went beyond the range or the precision of its type; what is bad there too is outside the domain of
the op, and no wider type helps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def _softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def _elu(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.where(x < 0, np.expm1(x), x))


def _over(reduce: Callable) -> Callable:
    def along(x: np.ndarray, axis: np.ndarray | None = None) -> np.ndarray:
        return reduce(x, axis=None if axis is None else tuple(int(a) for a in np.atleast_1d(axis)))

    return along


_OPS: dict[str, Callable[..., np.ndarray]] = {
    "Log": np.log,
    "Log1p": np.log1p,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Sqrt": np.sqrt,
    "Rsqrt": lambda x: 1.0 / np.sqrt(x),
    "Reciprocal": np.reciprocal,
    "Inv": np.reciprocal,
    "Square": np.square,
    "SquaredDifference": lambda a, b: np.square(a - b),
    "Mul": np.multiply,
    "AddV2": np.add,
    "Add": np.add,
    "Sub": np.subtract,
    "RealDiv": np.divide,
    "Div": np.divide,
    "Pow": np.power,
    "FloorMod": np.mod,
    "Acos": np.arccos,
    "Asin": np.arcsin,
    "Acosh": np.arccosh,
    "Atanh": np.arctanh,
    "Sinh": np.sinh,
    "Cosh": np.cosh,
    "Softplus": lambda x: np.logaddexp(x, 0.0),
    "Softmax": _softmax,
    "Sum": _over(np.sum),
    "Mean": _over(np.mean),
    "Prod": _over(np.prod),
    "L2Loss": lambda x: np.sum(np.square(x)) / 2,
    "MatMul": np.matmul,
    "SqrtGrad": lambda y, g: 0.5 * g / y,
    "RsqrtGrad": lambda y, g: -0.5 * g * y**3,
    "Cast": lambda x: x,
    "Neg": np.negative,
    "Abs": np.abs,
    "Relu": lambda x: np.maximum(x, 0.0),
    "Relu6": lambda x: np.clip(x, 0.0, 6.0),
    "Elu": _elu,
    "Sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
    "Tanh": np.tanh,
    "Sin": np.sin,
    "Cos": np.cos,
    "Tan": np.tan,
    "Atan": np.arctan,
    "Asinh": np.arcsinh,
    "Floor": np.floor,
    "Ceil": np.ceil,
    "Rint": np.rint,
    "Round": np.rint,
}


def in_float64(op_type: str, inputs: list[np.ndarray]) -> np.ndarray | None:
    """The op's output in float64; None for an op type, or inputs, that this cannot compute."""
    compute = _OPS.get(op_type)
    if compute is None or not inputs:
        return None
    wide = [x.astype(np.float64) if x.dtype.kind not in "iub" else x for x in inputs]
    try:
        with np.errstate(all="ignore"):
            return np.asarray(compute(*wide))
    except (ValueError, TypeError, ArithmeticError):
        return None


def is_range(op_type: str, inputs: list[np.ndarray]) -> bool | None:
    """Whether float64 gives only finite values where the recorded type did not; None when it cannot be told."""
    output = in_float64(op_type, inputs)
    if output is None or output.dtype.kind != "f":
        return None
    return bool(np.isfinite(output).all())
