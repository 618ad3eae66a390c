"""Lists what the dumps of a run hold, chosen and sorted as commands ask for it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, cast, overload

import numpy as np

from tdbg.errors import TdbgError
from tdbg.formats.dumps.events import map_tensor
from tdbg.formats.dumps.names import split_element
from tdbg.frameworks.tensorflow.dialect import DIALECT
from tdbg.frameworks.tensorflow.reading_dumps.dump_dir import (
    DebugDumpDir,
    DebugTensorDatum,
    InconvertibleTensorProto,
    has_inf_or_nan,
)
from tdbg.frameworks.tensorflow.reading_dumps.filters import filter_of, numbers_of
from tdbg.frameworks.tensorflow.sessions.matching import computed_for, fed_name
from tdbg.frameworks.tensorflow.tfdbg.run_nodes import RuntimeNodes
from tdbg.model import Summary
from tdbg.scene import Seen, Selection, TensorFilter, Tensors, computed_inside

# They give what they are given: where the runtime left one out, its input has the value.
_SAME_VALUE = frozenset({"Identity", "StopGradient", "PreventGradient", "Snapshot", "IdentityN"})
_MAPPED = 1 << 22  # bytes of a dump from which on it is mapped, and not read to the end
_UNASKED = 1 << 28  # bytes of dumps that are looked at because they are listed
_SORTS = ("timestamp", "dump_size", "op_type", "tensor_name")


class RunTensors:
    """What was dumped of one run. A value is read when it is asked for, and what it told is remembered."""

    def __init__(self, dump: DebugDumpDir, nodes: RuntimeNodes) -> None:
        self._dump, self._nodes = dump, nodes
        self._began = dump.t0 or 0
        self._numbers: dict[str, tuple[Summary | None, str, tuple[int, ...] | None]] = {}  # by path
        self._passed_over: set[str] = set()  # paths of what is too large to be read unasked, or cannot be read
        self._left = _UNASKED
        self._found: dict[tuple[str, str, int], list[DebugTensorDatum]] = {}

    @cached_property
    def data(self) -> list[DebugTensorDatum]:
        return self._dump.dumped_tensor_data

    @cached_property
    def _by_tensor(self) -> dict[tuple[str, int], list[DebugTensorDatum]]:
        found: dict[tuple[str, int], list[DebugTensorDatum]] = defaultdict(list)
        for datum in self.data:
            found[_place(datum)].append(datum)
        return dict(found)

    @cached_property
    def _order(self) -> dict[str, int]:
        """By path: the how-manieth dump of its tensor it is."""
        counts: dict[tuple[str, str], int] = defaultdict(int)
        order = {}
        for datum in self.data:
            key = (datum.watch_key, datum.device_name)
            order[datum.file_path] = counts[key]
            counts[key] += 1
        return order

    def names(self) -> list[str]:
        return [f"{node}:{slot}" for node, slot in self._by_tensor]

    def dumps_of_nodes(self) -> Mapping[str, list[DebugTensorDatum]]:
        """By the user's name of the node."""
        found: dict[str, list[DebugTensorDatum]] = defaultdict(list)
        for (node, _), data in self._by_tensor.items():
            found[node] += data
        return found

    def select(self, selection: Selection, filters: Mapping[str, TensorFilter]) -> Tensors:
        data = self.passing(selection.filter, selection.exclude_nodes, filters) if selection.filter else self.data
        if selection.node_pattern or selection.op_pattern:
            node, op = _pattern(selection.node_pattern), _pattern(selection.op_pattern)
            data = [datum for datum in data if self._matches(datum, node, op)]
        data = self._sorted(data, selection.sort_by)
        if selection.reverse:
            data = data[::-1]
        notes = []
        if selection.node_pattern or selection.op_pattern:
            inside = self._nodes.parts_like(_pattern(selection.node_pattern), _pattern(selection.op_pattern))
            notes += [computed_inside(inside, DIALECT.title)] if inside else []
        return DumpedTensors(self, data, len(self.data), notes)

    def _sorted(self, data: list[DebugTensorDatum], by: str) -> list[DebugTensorDatum]:
        if by == "timestamp":  # they are in this order
            return data
        if by == "dump_size":
            return sorted(data, key=lambda datum: datum.dump_size_bytes or 0)
        if by == "op_type":
            return sorted(data, key=self.op_type)
        if by == "tensor_name":
            return sorted(data, key=_place)
        raise TdbgError(f"there is no sorting by {by!r}; sort by {', '.join(_SORTS)}")

    @cached_property
    def bad(self) -> int:
        """How many are bad, as far as they are looked at unasked."""
        return sum(bool(self.seen(datum).is_bad) for datum in self.data)

    def passing(self, text: str, exclude: str, filters: Mapping[str, TensorFilter]) -> list[DebugTensorDatum]:
        key = (text, exclude, id(filters.get(text)))
        if key not in self._found:
            _pattern(exclude)
            wanted = filter_of(text, filters, self.op_type)
            self._found[key] = wanted.find(self._dump, exclude_nodes=exclude, on_read=self._note)
        return self._found[key]

    def has_passing(self, text: str, exclude: str, filters: Mapping[str, TensorFilter]) -> bool:
        return bool(filter_of(text, filters, self.op_type).find(self._dump, first_n=1, exclude_nodes=exclude))

    def first_bad(self) -> Seen | None:
        for datum in self._dump.find(has_inf_or_nan, first_n=1):
            self.look_at(datum)
            return self.seen(datum)
        return None

    def op_type(self, datum: DebugTensorDatum) -> str:
        return self._nodes.op_type(datum.node_name)

    def _matches(self, datum: DebugTensorDatum, node: re.Pattern[str], op: re.Pattern[str]) -> bool:
        names, types = self._nodes.words(datum.node_name)
        return any(map(node.match, names)) and any(map(op.match, types))

    def seen(self, datum: DebugTensorDatum) -> Seen:
        node, slot = _place(datum)
        self._glance(datum)
        looked = self._numbers.get(datum.file_path)
        numbers, dtype, shape = looked or (None, *self._expected(datum))
        return Seen(
            node,
            slot,
            self.op_type(datum),
            (datum.timestamp - self._began) / 1000,
            datum.dump_size_bytes,
            dtype,
            shape,
            datum,
            datum.device_name,
            datum.debug_op,
            self._order[datum.file_path],
            numbers=numbers,
            is_bad=None if looked is None else numbers is not None and numbers.is_bad,
        )

    def _glance(self, datum: DebugTensorDatum) -> None:
        """Looks at a dump that is listed, unless that takes too long."""
        if datum.file_path in self._numbers or datum.file_path in self._passed_over:
            return
        size = datum.dump_size_bytes or 0
        try:
            if size > self._left:
                self._passed_over.add(datum.file_path)
            else:
                self._left -= size
                self.look_at(datum)
        except (OSError, ValueError):
            self._passed_over.add(datum.file_path)

    def _expected(self, datum: DebugTensorDatum) -> tuple[str, tuple[int, ...] | None]:
        """Type and shape as the program's graph tells them."""
        op = self._nodes.maker(datum.node_name)
        if op is None or datum.debug_op != "DebugIdentity" or datum.output_slot >= len(op.outputs):
            return "", None
        tensor = op.outputs[datum.output_slot]
        return tensor.dtype.base_dtype.name, tuple(tensor.shape) if tensor.shape.is_fully_defined() else None

    def look_at(self, datum: DebugTensorDatum) -> Any:
        """The tensor of a dump; its numbers are known from then on."""
        tensor = datum.get_tensor()
        self._note(datum, tensor)
        return tensor

    def _note(self, datum: DebugTensorDatum, tensor: Any) -> None:
        is_array = isinstance(tensor, np.ndarray | np.generic)
        told = (tensor.dtype.name, tensor.shape) if is_array else self._expected(datum)
        self._numbers.setdefault(datum.file_path, (numbers_of(tensor), *told))

    def value(self, seen: Seen) -> Any:
        datum = cast(DebugTensorDatum, seen.key)
        try:
            tensor = map_tensor(datum.file_path) if (datum.dump_size_bytes or 0) >= _MAPPED else None
            tensor = self.look_at(datum) if tensor is None else tensor
        except (OSError, ValueError) as problem:
            raise TdbgError(f"the value of {seen.tensor} cannot be read: {problem}") from None
        if isinstance(tensor, InconvertibleTensorProto):
            what = (
                "is not an array of numbers or text" if tensor.initialized else "was not initialized when it was dumped"
            )
            raise TdbgError(f"{seen.tensor} {what}; type ni -d {seen.node} to see what is known about it")
        return tensor

    def of(self, node: str, slot: int | None) -> list[DebugTensorDatum]:
        """The dumps of an output by the user's name or the runtime's; where the runtime left out an op that only
        hands on what it is given, those of its input. None when there are none."""
        slots = sorted(known for name, known in self._by_tensor if name == node)
        if slot is None and len(slots) > 1:
            outputs = ", ".join(f"{node}:{one}" for one in slots)
            raise TdbgError(f"{node} has {len(slots)} outputs; choose one of {outputs}")
        if slot is None:
            slot = slots[0] if slots else 0
        return self._dumps(fed_name(node) or (node, slot)) or self._handed_on(node, slot)

    def _dumps(self, place: tuple[str, int]) -> list[DebugTensorDatum]:
        return self._by_tensor.get(place) or self._renamed.get(place, [])

    @cached_property
    def _renamed(self) -> dict[tuple[str, int], list[DebugTensorDatum]]:
        """By the program's name, where the runtime's has something behind it."""
        found = ((computed_for(node), data) for (node, slot), data in self._by_tensor.items() if slot == 0)
        return {(name, 0): data for name, data in found if name}

    def _handed_on(self, node: str, slot: int) -> list[DebugTensorDatum]:
        op = self._nodes.user_ops.named(node)
        while op is not None and op.type in _SAME_VALUE and slot < len(op.inputs):
            given = op.inputs[slot]
            found = self._dumps((given.op.name, given.value_index))
            if found:
                return found
            op, slot = given.op, given.value_index
        return []


class DumpedTensors(Tensors):
    """Dumps in an order; of each a Seen is made when it is asked for."""

    def __init__(self, tensors: RunTensors, data: list[DebugTensorDatum], total: int, notes: Sequence[str]) -> None:
        self._tensors, self._data, self.total, self.notes = tensors, data, total, notes

    def __len__(self) -> int:
        return len(self._data)

    @overload
    def __getitem__(self, at: int) -> Seen: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Seen]: ...
    def __getitem__(self, at: int | slice) -> Seen | Sequence[Seen]:
        if isinstance(at, slice):
            return DumpedTensors(self._tensors, self._data[at], self.total, self.notes)
        return self._tensors.seen(self._data[at])


class NoTensors(Tensors):
    """Of a run that has not begun, or was not debugged."""

    total = 0

    def __init__(self, note: str) -> None:
        self.notes = (note,)

    def __len__(self) -> int:
        return 0

    def __getitem__(self, at: Any) -> Any:
        return [][at]


def parse_tensor_name(text: str) -> tuple[str, int | None, str]:
    """Node, slot and debug op of ``node``, ``node:slot`` or ``node:slot:DebugOp``."""
    node, slot = split_element(text)
    if slot is not None:
        return node, slot, ""
    before, _, debug_op = text.rpartition(":")
    inner, slot = split_element(before)
    return (inner, slot, debug_op) if slot is not None else (text, None, "")


def _place(datum: DebugTensorDatum) -> tuple[str, int]:
    fed = fed_name(datum.node_name)
    return fed if fed else (datum.node_name, datum.output_slot)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except re.error as problem:
        raise TdbgError(f"{text!r} is not a regular expression: {problem}") from None
