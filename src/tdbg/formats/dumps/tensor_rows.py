"""Fills the number columns of a dumped tensor's row, as far as the debug op that made it tells them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tdbg.formats.debug_events.rows import Shapes, summary_of
from tdbg.formats.debug_events.tensors import DTYPES
from tdbg.formats.dumps.events import DumpedTensor
from tdbg.model import BAD_COUNTS, MEASURED, DType, Flag, is_bad

# In the order of a DebugNumericSummary, behind whether there is a value.
_TOLD = ("elements", "nan", "neg_inf", "negative", "zero", "positive", "pos_inf")
_NUMERIC_SUMMARY = 14  # columns before the dims


@dataclass(slots=True)
class Numbers:
    """What is known of one tensor; ``measured`` has those of its numbers that are."""

    dtype: int = int(DType.UNKNOWN)
    shape: int = -1
    elements: int = -1
    measured: dict[str, float] = field(default_factory=dict)
    flags: int = 0
    is_whole: bool = False  # the dump is the tensor itself, not a summary of it

    @property
    def is_bad(self) -> bool:
        return bool(is_bad(self.flags))

    def columns(self) -> dict[str, Any]:
        cells = {name: self.measured.get(name) for name in MEASURED}
        return cells | {"dtype": self.dtype, "shape": self.shape, "elements": self.elements}


def numbers_of(dumped: DumpedTensor, debug_op: str, shapes: Shapes) -> Numbers:
    numbers = READERS[debug_op](dumped, shapes)
    if any(numbers.measured.get(name) for name in BAD_COUNTS):
        numbers.flags |= Flag.BAD
    return numbers


def _whole(dumped: DumpedTensor, shapes: Shapes) -> Numbers:
    tensor = dumped.tensor
    elements = math.prod(tensor.dims)
    elements = elements if 0 <= elements < 1 << 63 else -1  # a damaged shape
    numbers = Numbers(int(tensor.dtype), shapes.number_of(tensor.dims), elements, is_whole=dumped.is_initialized)
    summary = summary_of(tensor) if dumped.is_initialized and tensor.data is not None else None
    if summary is not None:
        numbers.measured = dict(zip(MEASURED, summary[1:], strict=True))
        numbers.flags = int(Flag.NUMBERS)
    return numbers


def _numeric_summary(dumped: DumpedTensor, shapes: Shapes) -> Numbers:
    """initialized, elements, NaN, -inf, negative, zero, positive, +inf, min, max, mean, variance, type, rank, dims."""
    data = dumped.tensor.data
    told = np.frombuffer(data, np.float64) if data is not None and len(data) % 8 == 0 else np.empty(0)
    whole = np.append(told[1:8], told[12:])  # those that are whole numbers
    if len(told) < _NUMERIC_SUMMARY or not told[0] or not (np.abs(whole) < 1 << 62).all():
        return Numbers()
    measured = dict(zip(_TOLD, map(int, told[1:8]), strict=True))
    elements = measured.pop("elements")
    least, most, mean, variance = map(float, told[8:12])
    statistics = {"min": least, "max": most, "mean": mean, "std": math.sqrt(max(variance, 0.0))}
    if not any(measured[name] for name in ("negative", "zero", "positive")):
        statistics = dict.fromkeys(statistics, math.nan)
    return Numbers(
        int(DTYPES.get(int(told[12]), DType.UNKNOWN)),
        shapes.number_of(map(int, told[_NUMERIC_SUMMARY:])),
        elements,
        {**measured, **statistics},
        int(Flag.NUMBERS),
    )


def _nan_count(dumped: DumpedTensor, shapes: Shapes) -> Numbers:
    data = dumped.tensor.data
    if dumped.tensor.dtype != DType.INT64 or not data:
        return Numbers()
    return Numbers(measured={"nan": int(np.frombuffer(data, np.int64)[0])})


# By debug op, the one that tells most first.
READERS = {"DebugIdentity": _whole, "DebugNumericSummary": _numeric_summary, "DebugNanCount": _nan_count}
