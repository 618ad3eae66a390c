"""Reads and writes DebugEvent records as small dataclasses; numbers as in TensorFlow's debug_event.proto."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from tdbg.formats.debug_events.wire import (
    BYTES,
    FIXED64,
    VARINT,
    Buffer,
    double_at,
    fields,
    int32,
    packed_varints,
    put_double,
    put_int,
    put_ints,
    put_message,
    put_text,
    put_texts,
)

FILE_VERSION = "debug.Event:1"


class DebugMode(IntEnum):
    """What stock TensorFlow keeps of each tensor."""

    UNSPECIFIED = 0
    NO_TENSOR = 1
    CURT_HEALTH = 2
    CONCISE_HEALTH = 3
    FULL_HEALTH = 4
    SHAPE = 5
    FULL_NUMERICS = 6
    FULL_TENSOR = 7


@dataclass(slots=True)
class Metadata:
    tensorflow_version: str = ""
    file_version: str = ""
    run_id: str = ""

    def body(self) -> bytes:
        return put_text(1, self.tensorflow_version) + put_text(2, self.file_version) + put_text(3, self.run_id)


@dataclass(slots=True)
class SourceFile:
    path: str = ""
    host: str = ""
    lines: list[str] = field(default_factory=list)

    def body(self) -> bytes:
        return put_text(1, self.path) + put_text(2, self.host) + put_texts(3, self.lines)


@dataclass(slots=True)
class StackFrame:
    id: str = ""
    file: int = 0
    line: int = 0
    function: str = ""

    def body(self) -> bytes:
        place = put_int(1, self.file) + put_int(2, self.line) + put_text(4, self.function)
        return put_text(1, self.id) + put_message(2, place)


@dataclass(slots=True)
class CodeLocation:
    """Frame ids, the outermost first."""

    host: str = ""
    frames: tuple[str, ...] = ()

    def body(self) -> bytes:
        return put_text(1, self.host) + put_texts(2, self.frames)


@dataclass(slots=True)
class GraphOp:
    type: str = ""
    name: str = ""
    graph_name: str = ""
    graph_id: str = ""
    device: str = ""
    inputs: list[str] = field(default_factory=list)
    outputs: int = 0
    location: bytes = b""
    tensor_ids: Sequence[int] = ()

    def body(self) -> bytes:
        return b"".join(
            (
                put_text(1, self.type), put_text(2, self.name), put_text(3, self.graph_name),
                put_text(4, self.graph_id), put_text(5, self.device), put_texts(6, self.inputs),
                put_int(7, self.outputs), put_message(8, self.location), put_ints(9, self.tensor_ids),
            )
        )  # fmt: skip


@dataclass(slots=True)
class Graph:
    id: str = ""
    name: str = ""
    outer: str = ""

    def body(self) -> bytes:
        return put_text(1, self.id) + put_text(2, self.name) + put_text(6, self.outer)


@dataclass(slots=True)
class Device:
    name: str = ""
    id: int = 0

    def body(self) -> bytes:
        return put_text(1, self.name) + put_int(2, self.id)


@dataclass(slots=True)
class Execution:
    """Written here; read as columns (see columns.py)."""

    op_type: str = ""
    graph_id: str = ""
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    mode: int = 0
    tensors: Sequence[bytes] = ()
    location: bytes = b""
    devices: Sequence[int] = ()

    def body(self) -> bytes:
        return b"".join(
            (
                put_text(1, self.op_type), put_int(2, len(self.outputs)), put_text(3, self.graph_id),
                put_ints(4, self.inputs), put_ints(5, self.outputs), put_int(6, self.mode),
                b"".join(put_message(7, tensor) for tensor in self.tensors), put_message(8, self.location),
                put_ints(9, self.devices),
            )
        )  # fmt: skip


Message = Metadata | SourceFile | StackFrame | GraphOp | Graph | Device | Execution
# The field of DebugEvent that holds each.
_FIELDS: dict[type, int] = {
    Metadata: 3, SourceFile: 4, StackFrame: 6, GraphOp: 7, Graph: 8, Execution: 9, Device: 12,
}  # fmt: skip
TRACE_FIELD = 10


def event(time: float, message: Message) -> bytes:
    """The DebugEvent that holds this message."""
    return put_double(1, time) + put_message(_FIELDS[type(message)], message.body())


def trace_event(time: float, fixed: bytes, tensor: bytes) -> bytes:
    """A GraphExecutionTrace: what is the same for every event of one tensor (see ``trace_head``), and its proto."""
    return put_double(1, time) + put_message(TRACE_FIELD, fixed + put_message(5, tensor))


def trace_head(graph_id: str, op_name: str, slot: int, mode: int, device: str) -> bytes:
    return b"".join(
        (put_text(1, graph_id), put_text(2, op_name), put_int(3, slot), put_int(4, mode), put_text(6, device))
    )


# ---- reading


def text(data: Buffer) -> str:
    return bytes(data).decode("utf-8", "replace")


def parse(record: Buffer) -> tuple[float, Message | None]:
    """When, and what; None for a kind of event that is not read this way. WireError when it is no DebugEvent."""
    time = 0.0
    message: Message | None = None
    for number, kind, at, stop in fields(record):
        if number == 1 and kind == FIXED64:
            time = double_at(record, at)
        elif kind == BYTES and number in _PARSERS:
            message = _PARSERS[number](record[at:stop])
    return time, message


def parse_location(data: Buffer) -> CodeLocation:
    location, frames = CodeLocation(), []
    for number, kind, at, stop in fields(data):
        if kind == BYTES and number == 1:
            location.host = text(data[at:stop])
        elif kind == BYTES and number == 2:
            frames.append(text(data[at:stop]))
    location.frames = tuple(frames)
    return location


def _texts(data: Buffer) -> dict[int, str]:
    return {number: text(data[at:stop]) for number, kind, at, stop in fields(data) if kind == BYTES}


def _metadata(data: Buffer) -> Metadata:
    found = _texts(data)
    return Metadata(found.get(1, ""), found.get(2, ""), found.get(3, ""))


def _source_file(data: Buffer) -> SourceFile:
    source = SourceFile()
    for number, kind, at, stop in fields(data):
        if kind != BYTES:
            continue
        if number == 1:
            source.path = text(data[at:stop])
        elif number == 2:
            source.host = text(data[at:stop])
        elif number == 3:
            source.lines.append(text(data[at:stop]))
    return source


def _stack_frame(data: Buffer) -> StackFrame:
    frame = StackFrame()
    for number, kind, at, stop in fields(data):
        if kind == BYTES and number == 1:
            frame.id = text(data[at:stop])
        elif kind == BYTES and number == 2:
            place = data[at:stop]
            for inner, inner_kind, inner_at, inner_stop in fields(place):
                if inner_kind == VARINT and inner == 1:
                    frame.file = int32(inner_at)
                elif inner_kind == VARINT and inner == 2:
                    frame.line = int32(inner_at)
                elif inner_kind == BYTES and inner == 4:
                    frame.function = text(place[inner_at:inner_stop])
    return frame


_OP_TEXTS = {1: "type", 2: "name", 3: "graph_name", 4: "graph_id", 5: "device"}


def _graph_op(data: Buffer) -> GraphOp:
    op, ids = GraphOp(), []
    for number, kind, at, stop in fields(data):
        if kind == VARINT:
            if number == 7:
                op.outputs = int32(at)
            elif number == 9:
                ids.append(int32(at))
        elif kind == BYTES and number in _OP_TEXTS:
            setattr(op, _OP_TEXTS[number], text(data[at:stop]))
        elif kind == BYTES and number == 6:
            op.inputs.append(text(data[at:stop]))
        elif kind == BYTES and number == 8:
            op.location = bytes(data[at:stop])
        elif kind == BYTES and number == 9:
            ids += map(int32, packed_varints(data, at, stop))
    op.tensor_ids = ids
    return op


def _graph(data: Buffer) -> Graph:
    found = _texts(data)
    return Graph(found.get(1, ""), found.get(2, ""), found.get(6, ""))


def _device(data: Buffer) -> Device:
    device = Device()
    for number, kind, at, stop in fields(data):
        if kind == BYTES and number == 1:
            device.name = text(data[at:stop])
        elif kind == VARINT and number == 2:
            device.id = int32(at)
    return device


_PARSERS: dict[int, Callable[[Buffer], Message]] = {
    3: _metadata, 4: _source_file, 6: _stack_frame, 7: _graph_op, 8: _graph, 12: _device,
}  # fmt: skip
