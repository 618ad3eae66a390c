"""Fills the number columns of ``tensors`` from columns of tensor protos: what each debug mode tells, no more."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg import native
from tdbg.formats.debug_events.messages import DebugMode
from tdbg.formats.debug_events.records import RecordFile
from tdbg.formats.debug_events.tensors import DTYPES, FullTensor, parse_tensor
from tdbg.formats.debug_events.wire import WireError
from tdbg.model import BAD_COUNTS, COUNTS, MEASURED, DType, Flag

# In the order in which TensorFlow's summaries tell them.
_BAD, _SIGNS = ("neg_inf", "pos_inf", "nan"), ("negative", "zero", "positive")
_DTYPES = np.zeros(256, np.uint8)
for _number, _dtype in DTYPES.items():
    _DTYPES[_number] = _dtype
_SHAPE_DIMS = 6
PutValue = Callable[[bytes, int, tuple[int, ...]], int]


class Shapes:
    """Numbers shapes. A dim of -1 is not known."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[int, ...], int] = {}

    def number_of(self, dims: Iterable[int]) -> int:
        return self._numbers.setdefault(tuple(dims), len(self._numbers))

    def rows(self) -> dict[str, list]:
        return {"shape": list(self._numbers.values()), "dims": [list(dims) for dims in self._numbers]}


class Numbers:
    """The columns of ``count`` tensors; all unknown at first."""

    def __init__(self, count: int) -> None:
        self.dtype = np.zeros(count, np.uint8)
        self.shape = np.full(count, -1, np.int32)
        self.elements = np.full(count, -1, np.int64)
        self.flags = np.zeros(count, np.uint16)
        self.value = np.full(count, -1, np.int64)
        self.not_kept = 0  # full tensors that are no arrays of numbers
        self._measured = {name: np.zeros(count, np.int64 if name in COUNTS else np.float64) for name in MEASURED}
        self._knows = {name: np.zeros(count, bool) for name in MEASURED}

    def columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            name: pa.array(values, mask=~self._knows[name]) for name, values in self._measured.items()
        }
        names = ("dtype", "shape", "elements", "flags", "value")
        return columns | {name: getattr(self, name) for name in names}

    def fill(self, modes: np.ndarray, tensors: np.ndarray, shapes: Shapes, file: RecordFile, put: PutValue) -> None:
        for mode in np.unique(modes).tolist():
            read, width = _READERS.get(mode, (None, 0))
            if mode == DebugMode.FULL_TENSOR:
                self._full_tensors(np.flatnonzero(modes == mode), tensors, shapes, file, put)
            elif read is not None:
                rows = np.flatnonzero((modes == mode) & (tensors["columns"] >= width))
                if len(rows):
                    read(self, rows, tensors["column"][rows], shapes)
        bad = np.logical_or.reduce([self._measured[name] != 0 for name in BAD_COUNTS])
        self.flags[bad] |= np.uint16(Flag.BAD)

    def _curt(self, rows: np.ndarray, column: np.ndarray, shapes: Shapes) -> None:
        self.flags[rows[column[:, 1] != 0]] |= np.uint16(Flag.BAD)

    def _concise(self, rows: np.ndarray, column: np.ndarray, shapes: Shapes) -> None:
        self.elements[rows] = column[:, 1]
        self._set(_BAD, rows, column[:, 2:5])

    def _health(self, rows: np.ndarray, column: np.ndarray, shapes: Shapes) -> None:
        self._typed(rows, column[:, 2])
        self.elements[rows] = column[:, 4]
        self._set(_BAD, rows, column[:, 5:8])
        self._set(_SIGNS, rows, column[:, 8:11])
        self._shaped(
            rows, column[:, 3:5], shapes, lambda rank, size: (() if not rank else (size,)) if rank < 2 else (-1,) * rank
        )

    def _shape(self, rows: np.ndarray, column: np.ndarray, shapes: Shapes) -> None:
        self._typed(rows, column[:, 1])
        self.elements[rows] = column[:, 3]
        self._shaped(rows, column[:, 2:10], shapes, _dims_of)

    def _typed(self, rows: np.ndarray, numbers: np.ndarray) -> None:
        self.dtype[rows] = _DTYPES[np.clip(numbers, 0, 255).astype(np.int64)]

    def _set(self, names: tuple[str, ...], rows: np.ndarray, columns: np.ndarray) -> None:
        for n, name in enumerate(names):
            self._measured[name][rows] = columns[:, n]
            self._knows[name][rows] = True

    def _shaped(self, rows: np.ndarray, facts: np.ndarray, shapes: Shapes, dims_of: Callable) -> None:
        if facts.shape[1] == 2:  # rank and size: as one number, which sorts many times faster
            _, first, which = np.unique(facts[:, 0] * 2.0**44 + facts[:, 1], return_index=True, return_inverse=True)
        else:
            _, first, which = np.unique(facts, axis=0, return_index=True, return_inverse=True)
        numbers = [shapes.number_of(dims_of(*map(int, fact))) for fact in facts[first].tolist()]
        self.shape[rows] = np.array(numbers, np.int32)[which.reshape(-1)]

    def _full_tensors(
        self, rows: np.ndarray, tensors: np.ndarray, shapes: Shapes, file: RecordFile, put: PutValue
    ) -> None:
        offsets, lengths = tensors["proto_offset"].tolist(), tensors["proto_length"].tolist()
        for row in rows.tolist():
            try:
                tensor = parse_tensor(file.part(offsets[row], lengths[row]))
            except WireError:
                self.not_kept += 1
                continue
            self.dtype[row] = tensor.dtype
            self.shape[row] = shapes.number_of(tensor.dims)
            self.elements[row] = int(np.prod(tensor.dims, dtype=np.int64))
            summary = None if tensor.data is None else summary_of(tensor)
            if tensor.data is None or summary is None:
                self.not_kept += 1
                continue
            self.value[row] = put(tensor.data, int(tensor.dtype), tensor.dims)
            for name, number in zip(MEASURED, summary[1:], strict=True):
                self._measured[name][row] = number
                self._knows[name][row] = True
            self.flags[row] |= np.uint16(Flag.NUMBERS)


def _dims_of(rank: int, size: int, *last: int) -> tuple[int, ...]:
    """TensorFlow notes the last six dims of a shape; one that is missing follows from the size."""
    if rank <= _SHAPE_DIMS:
        return last[:rank]
    known = int(np.prod(last, dtype=np.int64))
    if rank == _SHAPE_DIMS + 1 and known and size % known == 0:
        return (size // known, *last)
    return (-1,) * (rank - _SHAPE_DIMS) + last


def summary_of(tensor: FullTensor) -> tuple | None:
    """The numbers of model.Summary, in order."""
    from tdbg.store.tensors import RawValue, as_array

    assert tensor.data is not None
    if native.lib is not None:
        found = native.lib.summarize(tensor.data, int(tensor.dtype))
        if found is not None:
            return found
    array = as_array(tensor.data, int(tensor.dtype), tensor.dims)
    if isinstance(array, RawValue) or array.dtype.name != DType(tensor.dtype).label:
        return None
    summary = native.summarize(array)
    return tuple(summary.numbers().values())


_READERS: dict[int, tuple[Callable, int]] = {
    DebugMode.CURT_HEALTH: (Numbers._curt, 2),
    DebugMode.CONCISE_HEALTH: (Numbers._concise, 5),
    DebugMode.FULL_HEALTH: (Numbers._health, 11),
    DebugMode.SHAPE: (Numbers._shape, 10),
}
