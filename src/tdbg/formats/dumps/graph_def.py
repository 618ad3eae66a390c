"""Reads the nodes of a serialised GraphDef, with their attributes in the form that traces keep them."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tdbg.formats.debug_events.messages import text
from tdbg.formats.debug_events.tensors import DTYPES, parse_dims
from tdbg.formats.debug_events.wire import BYTES, FIXED32, VARINT, Buffer, WireError, fields, packed_varints, signed
from tdbg.model import DType

_LONGEST = 200  # of a text; longer ones are named by their size only


@dataclass(slots=True)
class Node:
    """One NodeDef; its attributes stay packed until they are asked for."""

    name: str = ""
    op: str = ""
    device: str = ""
    input: list[str] = field(default_factory=list)
    packed: list[Buffer] = field(default_factory=list)
    runtime_name: str = ""

    def attributes(self) -> dict[str, Any]:
        found = {}
        for entry in self.packed:
            try:
                key, value = _entry(entry)
            except (WireError, struct.error):  # damaged: the others may still tell something
                continue
            found[key] = value
        return found


def _entry(data: Buffer) -> tuple[str, Any]:
    key, value = "", None
    for number, kind, at, stop in fields(data):
        if number == 1 and kind == BYTES:
            key = text(data[at:stop])
        elif number == 2 and kind == BYTES:
            value = _plain(data[at:stop])
    return key, value


def parse_graph(data: Buffer) -> list[Node]:
    """WireError when it is no GraphDef."""
    view = memoryview(data)
    return [_node(view[at:stop]) for number, kind, at, stop in fields(view) if number == 1 and kind == BYTES]


def _node(data: Buffer) -> Node:
    node = Node()
    for number, kind, at, stop in fields(data):
        if kind != BYTES:
            continue
        if number == 3:
            node.input.append(text(data[at:stop]))
        elif number == 5:
            node.packed.append(data[at:stop])
        elif number == 1:
            node.name = text(data[at:stop])
        elif number == 2:
            node.op = text(data[at:stop])
        elif number == 4:
            node.device = text(data[at:stop])
    node.runtime_name = node.name
    return node


def _plain(data: Buffer) -> Any:
    """An AttrValue."""
    for number, kind, at, stop in fields(data):
        if number == 1 and kind == BYTES:
            return list(_list(data[at:stop]))
        found = _scalar(number, kind, data, at, stop)
        if found is not None:
            return found
        if number == 10 and kind == BYTES:
            return _function_name(data[at:stop])
    return None


def _scalar(number: int, kind: int, data: Buffer, at: int, stop: int) -> Any:
    """The fields that AttrValue and AttrValue.ListValue share."""
    if kind == VARINT:
        if number == 3:
            return signed(at)
        if number == 5:
            return bool(at)
        if number == 6:
            return DTYPES.get(at, DType.UNKNOWN).label
    elif kind == FIXED32 and number == 4:
        return struct.unpack("<f", data[at:stop])[0]
    elif kind == BYTES:
        if number == 2:
            return text(data[at:stop]) if stop - at < _LONGEST else f"<{stop - at} bytes>"
        if number == 7:
            return list(parse_dims(data[at:stop]))
        if number == 8:
            return _tensor(data[at:stop])
    return None


def _list(data: Buffer) -> Iterator[Any]:
    for number, kind, at, stop in fields(data):
        if kind == BYTES and number in (3, 5, 6):  # packed
            for value in packed_varints(data, at, stop):
                yield _scalar(number, VARINT, data, value, value)
        elif kind == BYTES and number == 4:
            yield from struct.unpack(f"<{(stop - at) // 4}f", data[at:stop])
        elif kind == BYTES and number == 9:
            yield _function_name(data[at:stop])
        else:
            yield _scalar(number, kind, data, at, stop)


def _tensor(data: Buffer) -> str:
    dtype, dims = DType.UNKNOWN, []
    for number, kind, at, stop in fields(data):
        if number == 1 and kind == VARINT:
            dtype = DTYPES.get(at, DType.UNKNOWN)
        elif number == 2 and kind == BYTES:
            dims = list(parse_dims(data[at:stop]))
    return f"<tensor {dtype.label} {dims}>"


def _function_name(data: Buffer) -> str:
    return next((text(data[at:stop]) for number, kind, at, stop in fields(data) if number == 1 and kind == BYTES), "")
