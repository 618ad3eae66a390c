"""Summarizes plain bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdbg.model import NUMBERS
from tdbg.native import reference
from tdbg.native.arrays import typed


def summarize(data: Any, dtype: int) -> tuple | None:
    """The fields of model.Summary of a buffer; None when its type is not known."""
    array = typed(np.frombuffer(data, np.uint8), dtype)
    if array is None:
        return None
    found = reference.summarize(array)
    return tuple(found.numbers().values())


def has_bad(data: Any, dtype: int) -> bool:
    array = typed(np.frombuffer(data, np.uint8), dtype)
    return array is not None and reference.has_bad(array)


def kernel_name() -> str:
    return "numpy"


def number_names() -> list[tuple[str, bool]]:
    """What a summary has, in its order, and whether it is a count."""
    return [(one.name, one.is_count) for one in NUMBERS]


def use_kernel(name: str) -> bool:
    return name == "numpy"
