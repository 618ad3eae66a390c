"""Looks at eager tensors and plain bytes as numpy arrays of their own element type, without a copy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tdbg.model import DType

AsBuffer = Callable[[Any], np.ndarray]

# By number in TensorFlow's types.proto.
FROM_TENSORFLOW = {
    1: DType.FLOAT32, 2: DType.FLOAT64, 3: DType.INT32, 4: DType.UINT8, 5: DType.INT16, 6: DType.INT8, 7: DType.STRING,
    8: DType.COMPLEX64, 9: DType.INT64, 10: DType.BOOL, 14: DType.BFLOAT16, 17: DType.UINT16, 18: DType.COMPLEX128,
    19: DType.FLOAT16, 20: DType.RESOURCE, 21: DType.VARIANT, 22: DType.UINT32, 23: DType.UINT64,
    24: DType.FLOAT8_E5M2, 25: DType.FLOAT8_E4M3FN, 26: DType.FLOAT8_E4M3FNUZ, 27: DType.FLOAT8_E4M3B11FNUZ,
    28: DType.FLOAT8_E5M2FNUZ,
}  # fmt: skip


def id_of(tensor: Any) -> int:
    """TensorFlow's number of an eager tensor; -1 when it is none."""
    return getattr(tensor, "_id", -1)


def dtype_of(tensor: Any) -> int:
    try:
        return int(FROM_TENSORFLOW.get(tensor._datatype_enum(), DType.UNKNOWN))
    except AttributeError:
        return int(DType.UNKNOWN)


def array_of(tensor: Any, dtype: int, as_buffer: AsBuffer) -> np.ndarray | None:
    """An eager tensor's elements in place; None for strings, resources and the like."""
    if not DType(dtype).is_number:
        return None
    try:
        array = np.asarray(memoryview(tensor))
    except Exception:  # bfloat16 and the 8-bit floats: numpy has no buffer format for them
        try:
            array = np.asarray(as_buffer(tensor))
        except Exception:
            return None
    return typed(array, dtype)


_numpy_types: dict[int, np.dtype | None] = {}


def typed(array: np.ndarray, dtype: int) -> np.ndarray | None:
    """The same bytes as elements of ``dtype``; None when that is no type of numbers that numpy knows here."""
    if dtype not in _numpy_types:
        _numpy_types[dtype] = _numpy_type(DType(dtype)) if dtype in set(DType) else None
    wanted = _numpy_types[dtype]
    if wanted is None or array.dtype == wanted:
        return array if wanted is not None else None
    return np.ascontiguousarray(array).reshape(array.shape).view(wanted)


def _numpy_type(dtype: DType) -> np.dtype | None:
    if not dtype.is_number:
        return None
    try:
        return np.dtype(dtype.label)
    except TypeError:
        pass
    try:
        import ml_dtypes

        return np.dtype(getattr(ml_dtypes, dtype.label))
    except (ImportError, AttributeError):
        return None
