"""Sums up an array in numpy alone: what the compiled kernels must agree with, and their stand-in."""

from __future__ import annotations

import math
import sys

import numpy as np

from tdbg.model import DType, Summary

# By numpy's name of the type, so that bfloat16 and the 8-bit floats are known without importing ml_dtypes.
DTYPES: dict[str, DType] = {dtype.label: dtype for dtype in DType if dtype.is_number}


@np.errstate(all="ignore")
def summarize(array: np.ndarray) -> Summary:
    """Counts, min, max, mean and std of one array; TypeError when its type is not in DTYPES."""
    parts = _real_parts(array)
    finite = parts[np.isfinite(parts)]
    negative, positive = _count(finite < 0), _count(finite > 0)
    low, high, mean, std = _statistics(finite)
    return Summary(
        elements=array.size,
        negative=negative,
        zero=finite.size - negative - positive,
        positive=positive,
        neg_inf=_count(parts == -math.inf),
        pos_inf=_count(parts == math.inf),
        nan=_count(parts != parts),
        min=low,
        max=high,
        mean=mean,
        std=std,
    )


@np.errstate(all="ignore")
def has_bad(array: np.ndarray) -> bool:
    """Whether a NaN or an infinity is in the array; TypeError when its type is not in DTYPES."""
    return not bool(np.isfinite(_real_parts(array)).all())


def _count(mask: np.ndarray) -> int:
    return int(np.count_nonzero(mask))


def _real_parts(array: np.ndarray) -> np.ndarray:
    """The real numbers of an array in a row, in a type that numpy computes in."""
    dtype = DTYPES.get(array.dtype.name)
    if dtype is None:
        raise TypeError(f"{array.dtype} is not a number type that tdbg summarizes; known are {', '.join(DTYPES)}")
    row = array.reshape(-1)
    if dtype in (DType.COMPLEX64, DType.COMPLEX128):
        return np.concatenate([row.real, row.imag])
    if dtype is DType.BOOL:
        return row.astype(np.uint8)
    if dtype.is_floating and row.dtype.itemsize < 4:
        return row.astype(np.float32)
    return row


def _statistics(finite: np.ndarray) -> tuple[float, float, float, float]:
    if finite.size == 0:
        return math.nan, math.nan, math.nan, math.nan
    low, high = float(finite.min()) + 0.0, float(finite.max()) + 0.0  # + 0.0 turns -0.0 into 0.0
    # Brought between -1 and 1 by a power of two: squares of large doubles overflow, those of small ones vanish.
    exponent = math.frexp(max(abs(low), abs(high)))[1]
    scaled = np.ldexp(finite.astype(np.float64), -exponent)
    distances = scaled - scaled[0]
    variance = np.square(distances - distances.mean()).mean()
    mean = np.clip(scaled[0] + distances.mean(), scaled.min(), scaled.max())  # rounding may carry it past an extreme
    std = min(float(np.ldexp(math.sqrt(variance), exponent)), sys.float_info.max)
    return low, high, math.ldexp(mean, exponent), std
