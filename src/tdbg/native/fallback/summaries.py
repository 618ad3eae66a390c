"""Summarizes plain bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdbg.native import reference
from tdbg.native.arrays import typed


def summarize(data: Any, dtype: int) -> tuple | None:
    """The fields of model.Summary of a buffer; None when its type is not known."""
    array = typed(np.frombuffer(data, np.uint8), dtype)
    if array is None:
        return None
    found = reference.summarize(array)
    return tuple(getattr(found, name) for name in found.__slots__)


def has_bad(data: Any, dtype: int) -> bool:
    array = typed(np.frombuffer(data, np.uint8), dtype)
    return array is not None and reference.has_bad(array)


def kernel_name() -> str:
    return "numpy"


def use_kernel(name: str) -> bool:
    return name == "numpy"
