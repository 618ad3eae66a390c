"""TensorFlow's element types to tdbg's."""

from __future__ import annotations

from typing import Any

from tensorflow.core.framework import types_pb2

from tdbg.model import DType

_NAMES = {"FLOAT": "FLOAT32", "DOUBLE": "FLOAT64", "HALF": "FLOAT16"}
_CODES: dict[int, DType] = {}
for _name, _number in types_pb2.DataType.items():
    _short = _name.removeprefix("DT_")
    _CODES[_number] = DType.__members__.get(_NAMES.get(_short, _short), DType.UNKNOWN)


def code_of(dtype: Any) -> DType:
    """Accepts a tf.DType or its number."""
    return _CODES.get(getattr(dtype, "_type_enum", dtype), DType.UNKNOWN)
