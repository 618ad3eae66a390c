"""Lists the words of numpy that ``eval`` knows, each with a bound on the size of what it gives.

Whatever makes an array that is larger than its inputs has a bound here, so that it is refused before it is made.
Nothing that reads or writes files, takes functions or gives objects other than arrays, numbers and texts is among them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Bound = Callable[..., int]


def size(value: Any) -> int:
    """Counts the elements of an array, or of all parts of a list; an empty dimension counts as one, as a sum over it
    gives one."""
    if isinstance(value, list | tuple):
        return sum(map(size, value))
    return math.prod(max(1, one) for one in np.shape(value))


def _shape_size(shape: Any) -> int:
    return math.prod(max(1, int(one)) for one in np.atleast_1d(shape).reshape(-1).tolist())


def _all(*args: Any, **_: Any) -> int:
    """Bounds by the size of all inputs together."""
    return size(args)


def broadcast(*args: Any, **_: Any) -> int:
    return math.prod(max(1, one) for one in np.broadcast_shapes(*(np.shape(one) for one in args)))


def _product(*args: Any, **_: Any) -> int:
    return math.prod(size(one) for one in args)


def _square(value: Any, *_: Any, **__: Any) -> int:
    return max(np.shape(value), default=1) ** 2 + size(value)


def matmul(a: Any, b: Any, **_: Any) -> int:
    first, second = np.shape(a), np.shape(b)
    rows = first[-2] if len(first) > 1 else 1
    columns = second[-1] if len(second) > 1 else 1
    return math.prod(np.broadcast_shapes(first[:-2], second[:-2])) * rows * columns


def _dot(a: Any, b: Any, *_: Any, **__: Any) -> int:
    first, second = np.shape(a), np.shape(b)
    if not first or not second:
        return size(a) * size(b)
    return math.prod(first[:-1]) * math.prod(second[:-2] + second[-1:] if len(second) > 1 else ())


def _arange(start: Any, stop: Any = None, step: Any = 1, **_: Any) -> int:
    first, last = (0, start) if stop is None else (start, stop)
    return max(0, math.ceil((last - first) / step))


def _spaced(start: Any, stop: Any, num: Any = 50, *_: Any, **__: Any) -> int:
    return int(num) * broadcast(start, stop)


def _repeat(value: Any, repeats: Any, *_: Any, **__: Any) -> int:
    return size(value) * int(np.max(repeats, initial=0))


def _pad(value: Any, width: Any, *_: Any, **__: Any) -> int:
    widths = np.broadcast_to(np.asarray(width), (np.ndim(value), 2)).tolist()
    return math.prod(size + int(a) + int(b) for size, (a, b) in zip(np.shape(value), widths, strict=True))


def _pairs(value: Any, *, rowvar: Any = True, **_: Any) -> int:
    """Bounds by the number of pairs of variables, which are the rows, or else the columns."""
    return (np.shape(value)[0 if rowvar else -1] if np.ndim(value) > 1 else 1) ** 2 + size(value)


def _per_dimension(value: Any, *_: Any, **__: Any) -> int:
    return size(value) * max(1, np.ndim(value))


def _triangle(value: Any, *_: Any, **__: Any) -> int:
    return size(value) ** 2 if np.ndim(value) < 2 else size(value)


def _eye(rows: Any, columns: Any = None, *_: Any, **__: Any) -> int:
    return int(rows) * int(rows if columns is None else columns)


def _diag(value: Any, k: Any = 0, *_: Any, **__: Any) -> int:
    return (size(value) + abs(int(k))) ** 2 if np.ndim(value) == 1 else size(value)


def _counted(value: Any, weights: Any = None, minlength: Any = 0, **_: Any) -> int:
    return max(int(np.max(value, initial=0)) + 1, int(minlength))


def _binned(value: Any, bins: Any = 10, *_: Any, **__: Any) -> int:
    return size(value) + (int(bins) if np.ndim(bins) == 0 else size(bins))


def _quantiles(value: Any, wanted: Any, axis: Any = None, *_: Any, **__: Any) -> int:
    return size(wanted) * (1 if axis is None else size(value))


def _svd(value: Any, full_matrices: Any = True, *_: Any, **__: Any) -> int:
    return _square(value) if full_matrices else 2 * size(value)


_UFUNCS = """abs absolute add subtract multiply divide true_divide floor_divide power float_power mod remainder fmod
    divmod negative positive sign reciprocal square sqrt cbrt exp exp2 expm1 log log2 log10 log1p logaddexp logaddexp2
    sin cos tan arcsin arccos arctan arctan2 sinh cosh tanh arcsinh arccosh arctanh hypot deg2rad rad2deg floor ceil
    rint trunc fabs maximum minimum fmax fmin isnan isinf isfinite signbit copysign nextafter spacing ldexp modf frexp
    equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not bitwise_and
    bitwise_or bitwise_xor invert conjugate conj heaviside gcd lcm""".split()
_NO_LARGER = """sum prod mean std var min max amin amax ptp median average nansum nanprod nanmean
    nanstd nanvar nanmin nanmax nanmedian any all argmax argmin nanargmax nanargmin cumsum
    cumprod nancumsum sort argsort unique count_nonzero flatnonzero reshape ravel transpose swapaxes
    moveaxis squeeze expand_dims flip fliplr flipud roll rot90 diagonal trace diff round around real imag
    angle isneginf isposinf isreal iscomplex nan_to_num ones_like zeros_like array asarray shape size ndim
    searchsorted digitize extract compress delete array_equal atleast_1d atleast_2d atleast_3d copy isin
    interp ediff1d partition argpartition""".split()
_BOUNDS: dict[str, Bound] = {
    **dict.fromkeys("concatenate stack vstack hstack dstack column_stack append".split(), _all),
    **dict.fromkeys("union1d intersect1d setdiff1d".split(), _all),
    **dict.fromkeys("where clip cross isclose allclose broadcast_arrays".split(), broadcast),
    **dict.fromkeys("outer kron meshgrid".split(), _product),
    **dict.fromkeys("corrcoef cov".split(), _pairs),
    **dict.fromkeys("nonzero argwhere gradient".split(), _per_dimension),
    **dict.fromkeys("tril triu".split(), _triangle),
    **dict.fromkeys("ones zeros empty".split(), lambda shape, *_, **__: _shape_size(shape)),
    **dict.fromkeys("linspace logspace geomspace".split(), _spaced),
    "full": lambda shape, value, *_, **__: _shape_size(shape),
    "full_like": lambda value, *_, **__: size(value),
    "broadcast_to": lambda value, shape, **_: _shape_size(shape),
    "matmul": matmul,
    "dot": _dot,
    "vdot": lambda *_: 1,
    "inner": lambda a, b: size(a) * size(b) // max(1, (np.shape(a) or (1,))[-1]) ** 2,
    **dict.fromkeys("percentile quantile nanpercentile nanquantile".split(), _quantiles),
    "arange": _arange,
    "tile": lambda value, times: size(value) * _shape_size(times),
    "repeat": _repeat,
    "pad": _pad,
    "eye": _eye,
    "identity": _eye,
    "diag": _diag,
    "bincount": _counted,
    "histogram": _binned,
    "take": lambda value, indices, axis=None, **_: size(indices)
    * (1 if axis is None else size(value) // max(1, np.shape(value)[axis])),
}  # fmt: skip
_LINEAR_ALGEBRA: dict[str, Bound] = {
    **dict.fromkeys("norm det slogdet inv pinv matrix_rank cond cholesky eigvals eigvalsh eigh eig".split(), _all),
    "svd": _svd,
    "svdvals": _all,
    "qr": lambda value, *_, **__: 2 * _square(value),
    **dict.fromkeys(("solve", "lstsq"), _product),
}  # fmt: skip
_CONSTANTS = ("pi", "e", "inf", "nan")
_TYPES = (
    """float16 float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 uint64 complex64 complex128 bool_""".split()
)

ARRAY_ATTRIBUTES = frozenset("T shape dtype size ndim real imag nbytes itemsize".split())
ARRAY_METHODS = frozenset(
    """sum prod mean std var min max ptp any all argmax argmin cumsum cumprod reshape ravel flatten transpose swapaxes
    squeeze astype clip round conj conjugate nonzero argsort diagonal trace item copy dot take repeat""".split()
)


class Word:
    """A function of numpy. ``bound`` says how many elements it gives at most."""

    def __init__(self, name: str, function: Callable[..., Any], bound: Bound) -> None:
        self.name, self.function, self.bound = name, function, bound

    def __repr__(self) -> str:
        return f"np.{self.name}"


class LinearAlgebra:
    """Stands for ``np.linalg``."""


def look_up(name: str) -> Any:
    """Finds a word of ``np``: a Word, a type, a number, or LinearAlgebra; KeyError when it is none."""
    if name == "linalg":
        return LinearAlgebra()
    if name in _CONSTANTS:
        return float(getattr(np, name))
    if name in _TYPES:
        return getattr(np, name)
    if name in _UFUNCS:
        return Word(name, getattr(np, name), broadcast)
    if name in _NO_LARGER:
        return Word(name, getattr(np, name), _all)
    bound = _BOUNDS[name]
    return Word(name, getattr(np, name), bound)


def look_up_linear_algebra(name: str) -> Word:
    """Finds a word of ``np.linalg``; KeyError when it is none."""
    bound = _LINEAR_ALGEBRA[name]
    return Word(f"linalg.{name}", getattr(np.linalg, name), bound)


def method_bound(name: str, array: Any, args: Sequence[Any], keywords: dict[str, Any]) -> int:
    """Tells how many elements a method of an array gives at most."""
    bound = _BOUNDS.get(name)
    return bound(array, *args, **keywords) if bound is not None else size(array)


def names() -> list[str]:
    """Gives all that can stand behind ``np.``, for completion."""
    linear = [f"linalg.{name}" for name in _LINEAR_ALGEBRA]
    return sorted({*_CONSTANTS, *_TYPES, *_UFUNCS, *_NO_LARGER, *_BOUNDS, *linear})
