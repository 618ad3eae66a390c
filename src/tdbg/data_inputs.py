"""Tells which inputs of an op its values are made of, by the op's kind."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from tdbg.vocabulary import Kind

Input = TypeVar("Input")

# Which inputs an op makes its output's values of, where that is not all of them: the others are shapes, axes, indices,
# sizes or conditions, which say where values go.
_FIRST, _BUT_FIRST, _BUT_LAST, _OUTER, _NONE = slice(0, 1), slice(1, None), slice(0, -1), slice(0, None, 2), slice(0, 0)
_DATA_INPUTS = {
    **dict.fromkeys(
        (
            Kind.RESHAPE, Kind.TRANSPOSE, Kind.EXPAND_DIMS, Kind.SQUEEZE, Kind.TILE, Kind.SLICE, Kind.STRIDED_SLICE,
            Kind.GATHER, Kind.GATHER_ND, Kind.GATHER_READ, Kind.GATHER_ND_READ, Kind.BROADCAST, Kind.PAD,
            Kind.PAD_GRADIENT, Kind.REVERSE, Kind.ROLL, Kind.CUMSUM, Kind.CUMPROD, Kind.SUM, Kind.MEAN, Kind.PRODUCT,
            Kind.MAX, Kind.MIN, Kind.NORM, Kind.ANY, Kind.ALL, Kind.ARGMAX, Kind.ARGMIN, Kind.TOP_K, Kind.BAND,
            Kind.REARRANGE, Kind.SWITCH, Kind.RESIZE, Kind.SEGMENT_SUM, Kind.SEGMENT_MEAN, Kind.SEGMENT_REDUCTION,
            Kind.SPLIT, Kind.LIST_GET, Kind.LIST_STACK, Kind.LIST_FROM, Kind.DIAGONAL,
        ),
        _FIRST,
    ),
    Kind.SPLIT_AXIS_FIRST: slice(1, 2),
    Kind.FILL: slice(1, 2),
    Kind.SCATTER: slice(1, 2),
    Kind.SELECT: _BUT_FIRST,
    Kind.CONCAT_AXIS_FIRST: _BUT_FIRST,
    Kind.CONCAT: _BUT_LAST,
    Kind.ONE_HOT: slice(2, None),
    Kind.PAD_WITH: _OUTER,
    Kind.SLICE_GRADIENT: slice(4, None),
    Kind.SCATTER_INTO: _OUTER,
    Kind.LIST_SET: _OUTER,
    Kind.ARRAY_READ: slice(-1, None),
    Kind.CONVOLVE_GRADIENT: _BUT_FIRST,
    Kind.FILTER_GRADIENT: _OUTER,
    Kind.SHAPE_OF: _NONE,
    Kind.LIKE: _NONE,
}  # fmt: skip


def data_inputs(kind: Kind, inputs: Sequence[Input]) -> list[tuple[int, Input]]:
    """(number, input) of those inputs that the values of an op's output are made of."""
    return list(enumerate(inputs))[_DATA_INPUTS.get(kind, slice(None))]


def takes_values(kind: Kind) -> bool:
    """Whether an op looks at the values that it is given, and not at their shape alone."""
    return _DATA_INPUTS.get(kind) != _NONE
