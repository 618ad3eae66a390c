"""Reads the tensor of a dumped Event, a message or in its file, and tells whether its numbers are bad."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from google.protobuf.message import DecodeError
from tensorflow.core.framework import tensor_pb2, types_pb2
from tensorflow.core.util import event_pb2
from tensorflow.python.framework import tensor_util

from tdbg.formats.dumps.names import DumpName, device_of_folder, parse_dump_name, tensor_name, watch_key

_NO_ARRAYS = (types_pb2.DT_RESOURCE, types_pb2.DT_VARIANT)
_SAY_NO_VALUE = frozenset({"dtype", "tensor_shape", "version_number"})


class InconvertibleTensorProto:
    """A tensor that is no array: of a type that numpy has no word for, or not initialized."""

    dtype = np.dtype(object)  # so that predicates that ask for an array's type first find no numbers here

    def __init__(self, tensor_proto: tensor_pb2.TensorProto, initialized: bool = True) -> None:
        self._tensor_proto = tensor_proto
        self._initialized = initialized

    def __str__(self) -> str:
        return ("" if self._initialized else "Uninitialized tensor:\n") + str(self._tensor_proto)

    @property
    def initialized(self) -> bool:
        return self._initialized


def read_event(path: str) -> event_pb2.Event:
    """ValueError, which names the file, when it is truncated or no Event."""
    with open(path, "rb") as file:
        content = file.read()
    try:
        return event_pb2.Event.FromString(content)
    except DecodeError as error:
        raise ValueError(f"The dump file is truncated or damaged: {path}") from error


def load_tensor_from_event_file(event_file_path: str) -> Any:
    """The tensor in a dump file as an array, or an InconvertibleTensorProto."""
    event = read_event(os.fspath(event_file_path))
    if not event.summary.value:
        raise ValueError(f"There is no tensor in this dump file: {event_file_path}")
    return load_tensor_from_event(event)


def load_tensor_from_event(event: event_pb2.Event) -> Any:
    """The tensor of ``event.summary.value[0]`` as an array, or an InconvertibleTensorProto."""
    proto = event.summary.value[0].tensor
    elements = int(np.prod([dim.size for dim in proto.tensor_shape.dim], dtype=np.int64))
    has_value = any(field.name not in _SAY_NO_VALUE for field, _ in proto.ListFields())
    if elements and not has_value:
        return InconvertibleTensorProto(proto, initialized=False)
    if proto.dtype in _NO_ARRAYS:
        return InconvertibleTensorProto(proto)
    try:
        return tensor_util.MakeNdarray(proto)
    except (KeyError, TypeError):  # an element type that numpy does not have
        return InconvertibleTensorProto(proto)


def has_inf_or_nan(datum: Any, tensor: Any) -> bool:
    """Whether there is a NaN or an infinity in the tensor: a predicate for ``DebugDumpDir.find``."""
    del datum
    dtype = getattr(tensor, "dtype", None)
    if not isinstance(dtype, np.dtype) or not isinstance(tensor, np.ndarray | np.generic):
        return False
    if dtype.kind in "fc":
        return not np.isfinite(tensor).all()
    if dtype.kind != "V" or dtype.fields is not None:  # bfloat16 and the 8-bit floats are of kind V
        return False
    try:
        return not np.isfinite(tensor).all()
    except TypeError:
        return False


class DebugTensorDatum:
    """One dumped tensor: what the name of its file says. The tensor is read when asked for."""

    __slots__ = ("_device", "_name", "_node", "_path", "_size")

    def __init__(self, dump_root: str, debug_dump_rel_path: str) -> None:
        """A path below the folder of a run. ValueError when its name is not that of a dump."""
        parts = os.path.normpath(debug_dump_rel_path).split(os.sep)
        name = parse_dump_name(parts[-1])
        node = "/".join([*parts[1:-1], name.node])
        self._set(device_of_folder(parts[0]), node, name, os.path.join(dump_root, debug_dump_rel_path))

    @classmethod
    def of(cls, device: str, node: str, name: DumpName, path: str) -> DebugTensorDatum:
        """Of what a walk through the folder has found already."""
        datum = cls.__new__(cls)
        datum._set(device, node, name, path)
        return datum

    def _set(self, device: str, node: str, name: DumpName, path: str) -> None:
        self._device, self._node, self._name, self._path = device, node, name, path
        self._size: int | None = None

    def __str__(self) -> str:
        place = f"{self.node_name}:{self.output_slot} @ {self.debug_op} @ {self.timestamp}"
        return f"{{DebugTensorDatum ({self.device_name}) {place}}}"

    __repr__ = __str__

    def get_tensor(self) -> Any:
        """An array, or an InconvertibleTensorProto."""
        return load_tensor_from_event_file(self._path)

    @property
    def order(self) -> tuple[int, int]:
        """Sorts dumps by time."""
        return self._name.order

    @property
    def timestamp(self) -> int:
        """When it was dumped, in µs."""
        return self._name.timestamp

    @property
    def extended_timestamp(self) -> str:
        """The same with "-k" behind it when the same tensor was dumped k times before in that microsecond."""
        return self._name.extended_timestamp

    @property
    def debug_op(self) -> str:
        return self._name.debug_op

    @property
    def device_name(self) -> str:
        return self._device

    @property
    def node_name(self) -> str:
        return self._node

    @property
    def output_slot(self) -> int:
        return self._name.slot

    @property
    def tensor_name(self) -> str:
        return tensor_name(self._node, self._name.slot)

    @property
    def watch_key(self) -> str:
        """``node:slot:debug_op``."""
        return watch_key(self._node, self._name.slot, self._name.debug_op)

    @property
    def file_path(self) -> str:
        return self._path

    @property
    def dump_size_bytes(self) -> int | None:
        """Size of the file; None when there is none."""
        if self._size is None:
            try:
                self._size = os.stat(self._path).st_size
            except OSError:
                return None
        return self._size
