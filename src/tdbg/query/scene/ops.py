"""Knows the ops of a process by the names that users know, and finds those that a pattern or a typed name means.

A framework's runtime may fuse and rename ops: in a Session ``Relu`` may be computed by a ``_FusedMatMul`` that stands
for a product, a sum and itself, and ``Sqrt/unary_ops_composition`` stands for ``Sqrt``. Patterns find such an op by
each name and type that it stands for, and by the runtime's type.

A name is that of the op in the trace. Where several ops share it (in several functions, or on several lines), all are
meant; ``train_step/Log`` is the one of a function, ``Log#12`` that of one op by its number. What an eager op was given
from outside is ``Log/input``.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tdbg.errors import TdbgError
from tdbg.frameworks import dialect_of, ops_of
from tdbg.nearest import did_you_mean
from tdbg.plain_text import all_plain
from tdbg.query.trace.fused import Part, fused
from tdbg.query.trace.op import function_name
from tdbg.query.trace.trace import Trace
from tdbg.store.plain_files import json_object

INPUT = "/input"
_NUMBERED = re.compile(r"(.*)#(\d+)")


class Named(NamedTuple):
    """What a typed name means: ops, and whether what they were given is meant."""

    ops: tuple[int, ...]
    slot: int | None
    is_input: bool


class Ops:
    """The columns of the table ``ops``, of one process, by place; ``at`` gives the place of an op's number."""

    def __init__(self, trace: Trace, process: int) -> None:
        columns = ["op", "graph", "name", "type", "device", "attributes", "stack", "phase", "framework"]
        rows = trace.table("ops", columns, process)
        self.numbers = rows["op"].to_numpy()
        self.graphs = rows["graph"].to_numpy()
        self.stacks = rows["stack"].to_numpy()
        self.phases = rows["phase"].to_numpy()
        self.names: list[str] = rows["name"].to_pylist()
        self.devices: list[str] = rows["device"].to_pylist()
        self.attributes: list[str] = rows["attributes"].to_pylist()
        self.frameworks: list[str] = rows["framework"].to_pylist()
        self.types: list[str] = list(map(function_name, rows["type"].to_pylist(), self.frameworks))
        self.at: dict[int, int] = {int(number): place for place, number in enumerate(self.numbers)}
        graphs = trace.table("graphs", ["graph", "function"], process)
        self.functions: dict[int, str] = dict(
            zip(graphs["graph"].to_pylist(), graphs["function"].to_pylist(), strict=True)
        )

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def size(self) -> int:
        """The size of an array with a cell for each op's number and a last one, which the index -1 finds."""
        return int(self.numbers.max(initial=-1)) + 2

    def known(self, numbers: np.ndarray) -> np.ndarray:
        """Puts -1 in place of ops that the trace does not tell of: a program that was killed may have left such
        rows."""
        return np.where((numbers >= 0) & (numbers < self.size - 1), numbers, -1)

    @cached_property
    def stands_for(self) -> dict[int, list[Part]]:
        """By place: names and types of the user's ops that an op of the runtime stands for, its own first."""
        found = {}
        for place, text in enumerate(self.attributes):
            if '"_stands_for"' in text:
                parts = fused(parsed(text)).parts
                if parts:
                    found[place] = parts
        return found

    @cached_property
    def shown(self) -> list[str]:
        """The user's name of each op: its own, unless the runtime made another of it and it alone stands for it."""
        renamed = {place: parts[0][0] for place, parts in self.stands_for.items() if parts[0][0] != self.names[place]}
        times = Counter((int(self.graphs[place]), name) for place, name in renamed.items())
        shown = list(self.names)
        for place, name in renamed.items():
            if times[int(self.graphs[place]), name] == 1:
                shown[place] = name
        return shown

    def name_of(self, op: int, is_input: bool = False) -> str:
        """Gives the user's name of an op, or of what an eager op was given; "" when there is no such op."""
        at = self.at.get(op, -1)
        if at < 0:
            return ""
        return self.shown[at] + (INPUT if is_input and self.graphs[at] < 0 else "")

    @cached_property
    def _by_name(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, (name, shown) in enumerate(zip(self.names, self.shown, strict=True)):
            found[name].append(place)
            if shown != name:
                found[shown].append(place)
        return found

    @cached_property
    def _by_part(self) -> dict[str, list[int]]:
        found: dict[str, list[int]] = defaultdict(list)
        for place, parts in self.stands_for.items():
            for name, _ in parts:
                found[name].append(place)
        return found

    def named(self, name: str) -> list[int]:
        """Finds the numbers of the ops that have a name, or are shown under it."""
        return [int(self.numbers[place]) for place in self._by_name.get(name, ())]

    def whole_of(self, number: int) -> str:
        """Finds the node that an op of the program became a part of; "" when there is none."""
        place = self.at[number]
        wholes = [one for one in self._by_part.get(self.names[place], ()) if self.graphs[one] == self.graphs[place]]
        return next((f"{self.shown[one]} ({self.types[one]})" for one in wholes if one != place), "")

    def framework_of(self, op: int) -> str:
        """Says what the framework is called whose op it is: ``TensorFlow``."""
        return dialect_of(self.frameworks[self.at[op]]).title

    def parts_like(self, node_pattern: str, op_pattern: str) -> dict[str, str]:
        """Finds the ops that pass the patterns and are computed inside others, with those."""
        node, kind = compiled(node_pattern), compiled(op_pattern)
        parts = {name: (name, type_) for own in self.stands_for.values() for name, type_ in own[1:]}
        found = [name for name, type_ in parts.values() if node.match(name) and kind.match(type_)]
        wholes = {name: next(filter(None, map(self.whole_of, self.named(name))), "") for name in found}
        return {name: whole for name, whole in wholes.items() if whole}

    def matching(self, node_pattern: str = "", op_pattern: str = "", exclude: str = "") -> np.ndarray | None:
        """Finds the ops that pass patterns, which match from the beginning, as an array by number whose last cell is
        False and stands for -1; None: all do."""
        if not (node_pattern or op_pattern or exclude):
            return None
        passes = np.zeros(self.size, bool)
        node, kind, without = compiled(node_pattern), compiled(op_pattern), compiled(exclude)
        for place, number in enumerate(self.numbers):
            names, types = self._names_of(place), self._types_of(place)
            passes[number] = (
                (not node_pattern or any(map(node.match, names)))
                and (not op_pattern or any(map(kind.match, types)))
                and not (exclude and any(map(without.match, names)))
            )
        return passes

    def _names_of(self, place: int) -> list[str]:
        name, shown = self.names[place], self.shown[place]
        return [shown, name, *(part for part, _ in self.stands_for.get(place, ()))]

    def _types_of(self, place: int) -> list[str]:
        kind = self.types[place]
        written = ops_of(self.frameworks[place]).written_type(kind)
        own = [kind] if written == kind else [kind, written]
        parts = self.stands_for.get(place, ())
        by = fused(parsed(self.attributes[place])).computed_by if parts else ""
        return own + [part for _, part in parts] + ([by] if by else [])

    # ---- names that are typed

    def find(self, name: str) -> Named:
        """Finds the ops that are meant by ``node`` or ``node:slot``; TdbgError, with the nearest name, when there is
        none."""
        node, colon, slot = name.rpartition(":")
        if not (colon and slot.isdecimal() and len(slot) < 6):
            node, slot = name, ""
        for is_input in (False, True):
            if is_input and not node.endswith(INPUT):
                break
            ops = self._find(node.removesuffix(INPUT) if is_input else node)
            if ops:
                return Named(tuple(int(self.numbers[place]) for place in ops), int(slot) if slot else None, is_input)
        raise TdbgError(f"no {'tensor' if slot else 'node'} {name!r}; " + self._hint(node, slot))

    def _find(self, node: str) -> list[int]:
        numbered = _NUMBERED.fullmatch(node)
        if numbered and int(numbered[2]) in self.at:
            place = self.at[int(numbered[2])]
            if numbered[1] in (self.names[place], self.shown[place]):
                return [place]
        return self._by_name.get(node) or self._in_function(node) or self._by_part.get(node, [])

    def _in_function(self, node: str) -> list[int]:
        function, slash, rest = node.partition("/")
        while slash:
            graphs = {graph for graph, name in self.functions.items() if name == function}
            found = [place for place in self._by_name.get(rest, ()) if int(self.graphs[place]) in graphs]
            if found:
                return found
            head, slash, rest = rest.partition("/")
            function = f"{function}/{head}"
        return []

    def _hint(self, node: str, slot: str) -> str:
        ending = f":{slot}" if slot else ""
        return did_you_mean(node, self._by_name, ending) or "list_tensors lists all that were recorded"


def parsed(attributes: str) -> dict[str, object]:
    """Reads the attributes of an op; there are none when the text is damaged."""
    try:
        return all_plain(json_object(attributes))
    except ValueError:
        return {}


def compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise TdbgError(f"this is not a regular expression ({error}): {pattern}") from None
