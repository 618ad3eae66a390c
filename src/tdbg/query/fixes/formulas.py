"""Small formulas that can be executed: each gives its value, and its pullback for the gradients.

A pullback takes the upstream gradient and gives those of the inputs. The gradients are TensorFlow's, with their
products of 0 and infinity: the gradient of a clipped log is 0 · 1/0 = NaN. Where TensorFlow guards a gradient (square
roots with an upstream gradient of 0, divide_no_nan, xlogy) so does this.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np

Array = np.ndarray
Pullback = Callable[[Array], tuple[Array, ...]]
Formula = Callable[..., tuple[Array, Pullback]]


def then(*steps: Formula) -> Formula:
    """One formula after the other; all but the first take one array."""

    def run(*arrays: Array) -> tuple[Array, Pullback]:
        value, back = steps[0](*arrays)
        backs = [back]
        for step in steps[1:]:
            value, back = step(value)
            backs.append(back)

        def pull(g: Array) -> tuple[Array, ...]:
            for back in reversed(backs[1:]):
                (g,) = back(g)
            return backs[0](g)

        return value, pull

    return run


def _unary(value: Callable[[Array], Array], slope: Callable[[Array, Array], Array]) -> Formula:
    def run(x: Array) -> tuple[Array, Pullback]:
        y = value(x)
        return y, lambda g: (g * slope(x, y),)

    return run


def _guarded(value: Callable[[Array], Array], slope: Callable[[Array, Array], Array]) -> Formula:
    """A gradient that TensorFlow gives as 0 where the upstream gradient is 0."""

    def run(x: Array) -> tuple[Array, Pullback]:
        y = value(x)
        return y, lambda g: (np.where(g == 0, g, g * slope(x, y)),)

    return run


def in_type(x: Array, value: float) -> np.generic:
    """In the type of the array: an epsilon that rounds to 0 there is 0."""
    return x.dtype.type(value)


def _sigmoid_of(x: Array) -> Array:
    return in_type(x, 1) / (in_type(x, 1) + np.exp(-x))


def _normal_quantile(p: Array) -> Array:
    """The inverse of the normal distribution's cumulative function: infinite at 0 and 1, NaN beyond."""
    inside = (p > 0) & (p < 1)
    at = np.array([NormalDist().inv_cdf(one) for one in p[inside].tolist()])
    y = np.where(p == 0, -np.inf, np.where(p == 1, np.inf, np.nan))
    y[inside] = at
    return y.astype(p.dtype)


log = _unary(np.log, lambda x, y: np.reciprocal(x))
log1p = _unary(np.log1p, lambda x, y: np.reciprocal(1 + x))
exp = _unary(np.exp, lambda x, y: y)
expm1 = _unary(np.expm1, lambda x, y: np.exp(x))
sqrt = _guarded(np.sqrt, lambda x, y: in_type(x, 0.5) / y)
rsqrt = _guarded(lambda x: np.reciprocal(np.sqrt(x)), lambda x, y: in_type(x, -0.5) * y * y * y)
reciprocal = _unary(np.reciprocal, lambda x, y: -y * y)
square = _unary(np.square, lambda x, y: 2 * x)
acos = _unary(np.arccos, lambda x, y: -np.reciprocal(np.sqrt(1 - x * x)))
asin = _unary(np.arcsin, lambda x, y: np.reciprocal(np.sqrt(1 - x * x)))
acosh = _unary(np.arccosh, lambda x, y: np.reciprocal(np.sinh(y)))
atanh = _unary(np.arctanh, lambda x, y: np.reciprocal(1 - x * x))
same = _unary(lambda x: x, lambda x, y: np.ones_like(x))
ndtri = _unary(_normal_quantile, lambda x, y: in_type(x, np.sqrt(2 * np.pi)) * np.exp(y * y / 2))
erfinv = _unary(
    lambda x: _normal_quantile((x + 1) / 2) / in_type(x, np.sqrt(2)),
    lambda x, y: in_type(x, np.sqrt(np.pi) / 2) * np.exp(y * y),
)
tanh = _unary(np.tanh, lambda x, y: 1 - y * y)
sinh = _unary(np.sinh, lambda x, y: np.cosh(x))
cosh = _unary(np.cosh, lambda x, y: np.sinh(x))
sigmoid = _unary(_sigmoid_of, lambda x, y: y * (1 - y))
one_minus = _unary(lambda x: 1 - x, lambda x, y: -np.ones_like(x))
negative = _unary(np.negative, lambda x, y: -np.ones_like(x))
log_sigmoid = _unary(lambda x: -np.logaddexp(-x, in_type(x, 0)), lambda x, y: _sigmoid_of(-x))


def at_least(bound: float) -> Formula:
    """``maximum(x, bound)``: no gradient below the bound."""
    return _unary(lambda x: np.maximum(x, in_type(x, bound)), lambda x, y: (x >= in_type(x, bound)).astype(x.dtype))


def at_most(bound: float) -> Formula:
    return _unary(lambda x: np.minimum(x, in_type(x, bound)), lambda x, y: (x <= in_type(x, bound)).astype(x.dtype))


def clip(low: float, high: float) -> Formula:
    return then(at_least(low), at_most(high))


def plus(epsilon: float) -> Formula:
    return _unary(lambda x: x + in_type(x, epsilon), lambda x, y: np.ones_like(x))


def where(chosen: Callable[[Array], Array], inner: Formula, other: float = 0.0) -> Formula:
    """``where(chosen(x), inner(x), other)``: the gradient of what is not chosen is 0, times the slope of inner."""

    def run(x: Array) -> tuple[Array, Pullback]:
        mask = chosen(x)
        value, back = inner(x)
        return np.where(mask, value, in_type(x, other)), lambda g: back(np.where(mask, g, 0 * g))

    return run


def safe_where(chosen: Callable[[Array], Array], inner: Formula, safe: float = 1.0, other: float = 0.0) -> Formula:
    """The same with a second where on the input, so that inner never sees what is not chosen."""

    def run(x: Array) -> tuple[Array, Pullback]:
        mask = chosen(x)
        value, back = inner(np.where(mask, x, in_type(x, safe)))

        def pull(g: Array) -> tuple[Array, ...]:
            (inside,) = back(np.where(mask, g, 0 * g))
            return (np.where(mask, inside, 0 * g),)

        return np.where(mask, value, in_type(x, other)), pull

    return run


# ---- of two arrays


def divide(a: Array, b: Array) -> tuple[Array, Pullback]:
    y = a / b
    return y, lambda g: (g / b, g * (-a / b / b))


def divide_no_nan(a: Array, b: Array) -> tuple[Array, Pullback]:
    def quotient(above: Array) -> Array:
        return np.where(b == 0, 0 * b, above / np.where(b == 0, 1 + 0 * b, b))

    return quotient(a), lambda g: (quotient(g + 0 * a), g * quotient(quotient(-a)))


def second_at_least(formula: Formula, bound: float) -> Formula:
    """The formula of ``a`` and ``maximum(b, bound)``."""

    def run(a: Array, b: Array) -> tuple[Array, Pullback]:
        bounded, back = at_least(bound)(b)
        y, pull = formula(a, bounded)
        return y, lambda g: (pull(g)[0], back(pull(g)[1])[0])

    return run


def divide_at_least(epsilon: float) -> Formula:
    """``a / maximum(b, epsilon)``"""
    return second_at_least(divide, epsilon)


def divide_plus(epsilon: float) -> Formula:
    """``a / (b + epsilon)``"""

    def run(a: Array, b: Array) -> tuple[Array, Pullback]:
        return divide(a, b + in_type(b, epsilon))

    return run


def power(x: Array, e: Array) -> tuple[Array, Pullback]:
    y = np.power(x, e)
    return y, lambda g: (g * e * np.power(x, e - 1),)


def xlogy(x: Array, y: Array) -> tuple[Array, Pullback]:
    """TensorFlow's: 0 where x is 0, and so are its gradients there."""
    zero = x == 0
    safe = np.where(zero, 1 + 0 * y, y)
    slope = np.where(zero, 0 * x, np.log(safe))
    return x * np.log(safe), lambda g: (g * slope, g * np.where(zero, 0 * x, x / safe))


def x_log_x(x: Array) -> tuple[Array, Pullback]:
    y, back = log(x)
    return x * y, lambda g: (g * y + back(g * x)[0],)


def xlogx(x: Array) -> tuple[Array, Pullback]:
    """``xlogy(x, x)``"""
    y, back = xlogy(x, x)
    return y, lambda g: (sum(back(g)),)  # type: ignore[return-value]


def floor_mod(a: Array, b: Array) -> tuple[Array, Pullback]:
    return np.mod(a, b), lambda g: (g, -g * np.floor(a / b))


def xlog1py(x: Array, y: Array) -> tuple[Array, Pullback]:
    value, back = xlogy(x, 1 + y)
    return value, back


def atan2(y: Array, x: Array) -> tuple[Array, Pullback]:
    def pull(g: Array) -> tuple[Array, ...]:
        share = g / (x * x + y * y)
        return x * share, -y * share

    return np.arctan2(y, x), pull


def atan2_off_origin(y: Array, x: Array) -> tuple[Array, Pullback]:
    """``atan2(y, where((x == 0) & (y == 0), 1, x))``: 0 at the origin, and no gradient to x there."""
    origin = (x == 0) & (y == 0)
    value, back = atan2(y, np.where(origin, in_type(x, 1), x))

    def pull(g: Array) -> tuple[Array, ...]:
        to_y, to_x = back(g)
        return to_y, np.where(origin, 0 * g, to_x)

    return value, pull


# ---- along the last axis


def softmax(x: Array) -> tuple[Array, Pullback]:
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    y = e / e.sum(axis=-1, keepdims=True)
    return y, lambda g: ((g - (g * y).sum(axis=-1, keepdims=True)) * y,)


def plain_softmax(x: Array) -> tuple[Array, Pullback]:
    """exp(x) / sum(exp(x)), as it is written by hand."""
    e = np.exp(x)
    total = e.sum(axis=-1, keepdims=True)
    y = e / total
    return y, lambda g: ((g / total - (g * e / total / total).sum(axis=-1, keepdims=True)) * e,)


def log_softmax(x: Array) -> tuple[Array, Pullback]:
    moved = x - x.max(axis=-1, keepdims=True)
    y = moved - np.log(np.exp(moved).sum(axis=-1, keepdims=True))
    return y, lambda g: (g - np.exp(y) * g.sum(axis=-1, keepdims=True),)


def norm(x: Array) -> tuple[Array, Pullback]:
    y, back = sqrt((x * x).sum(axis=-1))
    return y, lambda g: (back(g)[0][..., None] * 2 * x,)


def safe_norm(epsilon: float) -> Formula:
    """sqrt(max(sum of squares, epsilon))"""

    def run(x: Array) -> tuple[Array, Pullback]:
        y, back = then(at_least(epsilon), sqrt)((x * x).sum(axis=-1))
        return y, lambda g: (back(g)[0][..., None] * 2 * x,)

    return run


def l2_normalize(epsilon: float = 1e-12) -> Formula:
    def run(x: Array) -> tuple[Array, Pullback]:
        total = np.maximum((x * x).sum(axis=-1, keepdims=True), in_type(x, epsilon))
        scale = np.reciprocal(np.sqrt(total))
        large = (x * x).sum(axis=-1, keepdims=True) >= in_type(x, epsilon)
        y = x * scale
        return y, lambda g: (scale * g - np.where(large, scale * y * (g * y).sum(axis=-1, keepdims=True), 0 * x),)

    return run
