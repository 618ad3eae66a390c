"""Translates TensorFlow's element types to tdbg's, and turns tensors of any of them into plain bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from tensorflow.core.framework import types_pb2

from tdbg.capture import faults
from tdbg.model import DType

_NAMES = {"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64", "HALF": "FLOAT16"}
_CODES: dict[int, DType] = {}
for _name, _number in types_pb2.DataType.items():
    _short = _name.removeprefix("DT_")
    _CODES[_number] = DType.__members__.get(_NAMES.get(_short, _short), DType.UNKNOWN)


def code_of(dtype: Any) -> DType:
    """Accepts a tf.DType or its number."""
    return _CODES.get(getattr(dtype, "_type_enum", dtype), DType.UNKNOWN)


def as_buffer(tensor: Any) -> Any:
    """Bytes of a tensor whose type numpy has no buffer format for: the same bits as unsigned integers.

    Called from C, which takes an exception to mean that there are none; one of the program's own is handed to it.
    """
    try:
        return _plain(tensor.numpy())
    except Exception as error:
        if faults.is_the_programs(error):
            return error
        raise


def _plain(array: Any) -> Any:
    if not isinstance(array, (np.ndarray, np.generic)) or array.dtype.kind in "OSU":
        raise TypeError("no plain bytes")
    array = np.ascontiguousarray(array).reshape(np.shape(array))
    return array.view(f"u{array.dtype.itemsize}") if array.dtype.kind == "V" or array.dtype.num > 24 else array
