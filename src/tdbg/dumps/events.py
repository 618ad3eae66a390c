"""The bytes of one dump file (a serialised Event) in; the graph, the text or the tensor that it holds out."""

from __future__ import annotations

from typing import NamedTuple

from tdbg.debug_events.messages import text
from tdbg.debug_events.tensors import FullTensor, parse_tensor
from tdbg.debug_events.wire import BYTES, Buffer, WireError, fields

# Fields of Event, LogMessage, Summary and Summary.Value in TensorFlow's protocol buffers.
_GRAPH, _SUMMARY, _LOG_MESSAGE = 4, 5, 6
_MESSAGE, _VALUE, _TENSOR = 2, 1, 8
_SAY_NO_VALUE = (1, 2, 3)  # of a TensorProto: element type, shape, version


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
    has_value = any(number not in _SAY_NO_VALUE for number, _, _, _ in fields(proto))
    tensor = parse_tensor(proto)
    return DumpedTensor(tensor, has_value or 0 in tensor.dims)


def _content(path: str) -> memoryview:
    with open(path, "rb") as file:
        return memoryview(file.read())
