"""Reads the graph, the text or the tensor of one dump file, a serialised Event."""

from __future__ import annotations

import math
import mmap
from typing import NamedTuple

import numpy as np

from tdbg.formats.debug_events.messages import text
from tdbg.formats.debug_events.tensors import DTYPES, FullTensor, parse_dims, parse_tensor
from tdbg.formats.debug_events.wire import BYTES, VARINT, Buffer, WireError, fields
from tdbg.model import DType
from tdbg.native.arrays import typed
from tdbg.store.plain_files import open_plain, read_plain

# Fields of Event, LogMessage, Summary and Summary.Value in TensorFlow's protocol buffers.
_GRAPH, _SUMMARY, _LOG_MESSAGE = 4, 5, 6
_MESSAGE, _VALUE, _TENSOR = 2, 1, 8
_SAY_NO_VALUE = frozenset({1, 2, 3})  # of a TensorProto: element type, shape, version
_BYTES = 4  # its elements in one piece
_MOST_BYTES = 1 << 32  # of one file: TensorFlow writes no message of more than 2 GiB
_MOST_SPELT = 1 << 24  # elements that are not


class DumpedTensor(NamedTuple):
    """A tensor, and whether it had a value: a variable that was not initialized is dumped all the same."""

    tensor: FullTensor
    is_initialized: bool


def _part(data: Buffer, wanted: int) -> Buffer:
    """The first field of this number; WireError when there is none."""
    for number, kind, at, stop in fields(data):
        if number == wanted and kind == BYTES:
            return data[at:stop]
    raise WireError(f"field {wanted} is missing")


def read_graph(path: str) -> bytes:
    """A serialised GraphDef. OSError or WireError when it cannot be read."""
    return bytes(_part(_content(path), _GRAPH))


def read_message(path: str) -> str:
    return text(_part(_part(_content(path), _LOG_MESSAGE), _MESSAGE))


def read_tensor(path: str) -> DumpedTensor:
    proto = _part(_part(_part(_content(path), _SUMMARY), _VALUE), _TENSOR)
    told = {number for number, _, _, _ in fields(proto)} - _SAY_NO_VALUE
    head = _head(proto)
    if 0 in head.dims:
        return DumpedTensor(parse_tensor(proto), True)
    # Without its bytes in one piece a tensor is as long as its shape says, which a damaged file may say wrongly.
    is_plausible = _BYTES in told or 0 < math.prod(head.dims) <= _MOST_SPELT
    return DumpedTensor(parse_tensor(proto) if told and is_plausible else head, bool(told))


def map_tensor(path: str) -> np.ndarray | None:
    """The array in a dump file, mapped and not read; None when its elements are no numbers or not in one piece."""
    with open_plain(path) as file:
        data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    proto = _part(_part(_part(data, _SUMMARY), _VALUE), _TENSOR)
    head = _head(proto)
    pieces = [proto[at:stop] for number, kind, at, stop in fields(proto) if number == _BYTES and kind == BYTES]
    if not head.dtype.is_number or len(pieces) != 1:
        return None
    array = typed(np.frombuffer(pieces[0], np.uint8), int(head.dtype))
    return array.reshape(head.dims) if array is not None and array.size == math.prod(head.dims) else None


def _head(proto: Buffer) -> FullTensor:
    """Type and shape alone."""
    dims: tuple[int, ...] = ()
    dtype = DType.UNKNOWN
    for number, kind, at, stop in fields(proto):
        if number == 1 and kind == VARINT:
            dtype = DTYPES.get(at, DType.UNKNOWN)
        elif number == 2 and kind == BYTES:
            dims = parse_dims(proto[at:stop])
    return FullTensor(dtype, dims, None)


def _content(path: str) -> memoryview:
    return memoryview(read_plain(path, _MOST_BYTES))
