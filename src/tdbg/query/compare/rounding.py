"""Measures how far the numbers of two tensors are apart, and knows the last place of each element type."""

from __future__ import annotations

import numpy as np

from tdbg.model import STATISTICS, DType

_EPSILON = {DType.FLOAT64: 2.2e-16, DType.COMPLEX128: 2.2e-16, DType.FLOAT16: 9.8e-4, DType.BFLOAT16: 7.8e-3}
_EPSILON |= {code: 0.13 for code in DType if code.name.startswith("FLOAT8")}
_FLOAT32 = 1.2e-7


def differences(first: dict[str, np.ndarray], second: dict[str, np.ndarray]) -> np.ndarray:
    """Gives the largest difference of any number, relative to the largest element of both."""
    with np.errstate(all="ignore"):
        scale = np.fmax.reduce([np.abs(side[name]) for side in (first, second) for name in ("min", "max")])
        apart = np.fmax.reduce([np.abs(first[name] - second[name]) for name in STATISTICS])
        found = np.where(apart > 0, apart / np.maximum(scale, 1e-300), 0.0)
    only_one = np.any([np.isnan(first[name]) != np.isnan(second[name]) for name in ("min", "max")], axis=0)
    return np.where(only_one, np.inf, np.nan_to_num(found, nan=0.0, posinf=np.inf))


def epsilons(dtypes: np.ndarray) -> np.ndarray:
    table = np.array([_EPSILON.get(DType(code), _FLOAT32) if code in list(DType) else _FLOAT32 for code in range(256)])
    return table[dtypes.astype(np.int64)]
