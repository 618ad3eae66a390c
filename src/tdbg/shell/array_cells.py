"""Writes the elements of an array as texts of equal width, each with its style."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

_PRECISION = 8
_LONGEST_TEXT = 40  # characters of an element that is a string
_LARGE, _SMALL, _SPREAD = 1e8, 1e-4, 1e3  # beyond these, numbers are written with an exponent, as numpy does


class Cells:
    """Writes the elements of one array. ``sample`` decides on digits and width; an element that is not like the sample
    is written as it must be, and may be wider."""

    def __init__(self, sample: np.ndarray, ranges: Sequence[tuple[float, float]] = ()) -> None:
        self._ranges = ranges
        self._write = _writer(computable(sample.reshape(-1)))
        texts = self._write(computable(sample.reshape(-1)))
        self.width = max(map(len, texts), default=1)
        self._to_left = sample.dtype.kind in "OSU"

    def texts(self, row: np.ndarray) -> list[str]:
        written = self._write(computable(row))
        return [text.ljust(self.width) if self._to_left else text.rjust(self.width) for text in written]

    def styles(self, row: np.ndarray) -> list[str]:
        """Gives the style of each element: its class, or ``match`` for what lies in one of the ranges."""
        values = computable(row)
        if values.dtype.kind not in "biufc":
            return [""] * len(values)
        styles = np.full(len(values), "positive", dtype="U8")
        if values.dtype.kind == "c":
            styles[:] = ""
            styles[values == 0] = "zero"
        else:
            styles[values == 0] = "zero"
            styles[values < 0] = "negative"
        if values.dtype.kind in "fc":
            styles[np.isinf(values)] = "inf"
            styles[np.isnan(values)] = "nan"
        if self._ranges:
            styles[in_ranges(values, self._ranges)] = "match"
        return styles.tolist()


def in_ranges(values: np.ndarray, ranges: Sequence[tuple[float, float]]) -> np.ndarray:
    """Finds which elements lie in one of the ranges, their ends included; complex ones by their absolute value."""
    values = computable(values)
    if values.dtype.kind not in "biufc":
        return np.zeros(values.shape, bool)
    measured = np.abs(values) if values.dtype.kind == "c" else values
    inside = np.zeros(measured.shape, bool)
    for low, high in ranges:
        inside |= (measured >= low) & (measured <= high)
    return inside


def computable(values: np.ndarray) -> np.ndarray:
    """Gives values in a type that numpy computes in, which bfloat16 and the 8-bit floats are not."""
    return values.astype(np.float32) if values.dtype.kind == "V" or values.dtype.name in _SMALL_FLOATS else values


_SMALL_FLOATS = frozenset(
    "bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e4m3b11fnuz float8_e5m2fnuz".split()
)


def _writer(sample: np.ndarray) -> Callable[[np.ndarray], list[str]]:
    kind = sample.dtype.kind
    if kind == "f":
        return _Floats(sample)
    if kind == "c":
        real, imaginary = _Floats(sample.real), _Floats(sample.imag, sign=True)
        return lambda row: [
            f"{one}{other}j" for one, other in zip(_even(real(row.real)), imaginary(row.imag), strict=True)
        ]
    if kind in "biu":
        return lambda row: [str(value) for value in row.tolist()]
    return lambda row: [_short(value) for value in row.tolist()]


def _even(texts: list[str]) -> list[str]:
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _LONGEST_TEXT else f"{text[: _LONGEST_TEXT - 2]}…{text[-1]}"


class _Floats:
    """Writes floating-point numbers with as many digits as tell them apart, at most eight, points one under the
    other."""

    def __init__(self, sample: np.ndarray, sign: bool = False) -> None:
        self._sign = "+" if sign else "-"
        finite = sample[np.isfinite(sample)]
        sizes = np.abs(finite[finite != 0]).astype(np.float64)
        with np.errstate(all="ignore"):
            self._has_exponent = bool(
                sizes.size and (sizes.max() >= _LARGE or sizes.min() < _SMALL or sizes.max() / sizes.min() > _SPREAD)
            )
        self._digits = _PRECISION
        write = np.format_float_scientific if self._has_exponent else np.format_float_positional
        texts = [str(write(value, precision=_PRECISION, unique=True, trim=".")) for value in finite]
        self._digits = max((len(text.partition(".")[2].partition("e")[0]) for text in texts), default=0)

    def __call__(self, row: np.ndarray) -> list[str]:
        return [self._one(value) for value in row]

    def _one(self, value: Any) -> str:
        if value != value:
            return "+nan" if self._sign == "+" else "nan"
        if np.isinf(value):
            return f"{'+' if value > 0 and self._sign == '+' else ''}{value}"
        size = abs(float(value))
        sign = self._sign == "+"
        if self._has_exponent or size >= _LARGE or 0 < size < _SMALL:
            digits = {"precision": _PRECISION, "min_digits": self._digits if self._has_exponent else 0}
            return str(np.format_float_scientific(value, unique=True, trim="k", sign=sign, **digits))
        text = str(np.format_float_positional(value, _PRECISION, unique=True, trim=".", sign=sign))
        whole, _, fraction = text.partition(".")
        return f"{whole}.{fraction.ljust(self._digits)}"
