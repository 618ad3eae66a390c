"""Filters, sorts and adds up the times of profiled nodes: by node, op type, device or source line.

The filters and the fields to sort by are those of tfdbg's ``list_profile``.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from tdbg.errors import TdbgError
from tdbg.model import TOGETHER, ProfiledNode
from tdbg.query.trace.program import Program, short_path
from tdbg.query.trace.trace import Trace

UNITS = {"us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}  # in ns; a bare number is in µs
_TIME = re.compile(r"(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(?P<unit>us|µs|ms|s)?", re.IGNORECASE)
_COMPARED = re.compile(r"(?P<sign><=|>=|<|>)(?P<time>.+)")
_BETWEEN = re.compile(r"(?P<open>[\[(])(?P<first>[^,]+),(?P<last>[^,]+)(?P<close>[\])])")


@dataclass(frozen=True, slots=True)
class TimeRange:
    """A range of durations, in ns."""

    first: float = 0.0
    last: float = math.inf
    includes_first: bool = True
    includes_last: bool = True

    def __contains__(self, time: float) -> bool:
        above = time > self.first or (self.includes_first and time == self.first)
        return above and (time < self.last or (self.includes_last and time == self.last))


def parse_time_range(text: str) -> TimeRange:
    """Reads ``>100us``, ``<=2s``, ``[1ms,2s]`` or ``(1,10)``; TdbgError when the text is none of these."""
    plain = text.strip()
    compared, between = _COMPARED.fullmatch(plain), _BETWEEN.fullmatch(plain)
    if compared:
        sign, time = compared["sign"], parse_time(compared["time"])
        if sign.startswith("<"):
            return TimeRange(0.0, time, True, sign == "<=")
        return TimeRange(time, math.inf, sign == ">=", True)
    if not between:
        raise TdbgError(f"this is not a time range: {text}; write it like >100us, <=2s or [1ms,2s]")
    first, last = parse_time(between["first"]), parse_time(between["last"])
    if first > last:
        raise TdbgError(f"this time range ends before it begins: {text}")
    return TimeRange(first, last, between["open"] == "[", between["close"] == "]")


def parse_time(text: str) -> float:
    """Reads a duration, ``100us``, ``1.5ms``, ``2s`` or ``100`` (which is in µs), and gives it in ns."""
    match = _TIME.fullmatch(text.strip())
    if match is None or float(match["number"]) < 0:
        raise TdbgError(f"this is not a duration: {text.strip()}; write it like 100us, 1.5ms or 2s")
    unit = (match["unit"] or "us").lower().replace("µ", "u")
    return float(match["number"]) * UNITS[unit]


def format_time(ns: float, unit: str = "us") -> str:
    """Writes a duration as ``12.5us``, with three decimals at most."""
    if unit not in UNITS:
        raise TdbgError(f"there is no time unit {unit}; use {', '.join(UNITS)}")
    return f"{ns / UNITS[unit]:.3f}".rstrip("0").rstrip(".") + unit


@dataclass(frozen=True, slots=True)
class ProfileFilter:
    """Chooses profiled nodes. Regular expressions match from the beginning of a name; lines are those of the user's
    file."""

    node_name: str = ""
    op_type: str = ""
    device: str = ""
    file_path: str = ""
    min_line: int = 0
    max_line: int = 0  # not included; 0: no end
    op_time: TimeRange = TimeRange()
    exec_time: TimeRange = TimeRange()

    def passes(self, node: ProfiledNode) -> bool:
        frame = node.frame
        line = frame.line if frame else 0
        return (
            _matches(self.node_name, node.node)
            and any(_matches(self.op_type, kind) for kind in (node.type, *node.type.split(TOGETHER)))
            and _matches(self.device, node.device)
            and _matches(self.file_path, frame.file if frame else "")
            and not (self.min_line > 0 and line < self.min_line)
            and not (self.max_line > 0 and (not line or line >= self.max_line))
            and node.op_time in self.op_time
            and node.exec_time in self.exec_time
        )


def _matches(pattern: str, text: str) -> bool:
    if not pattern:
        return True
    try:
        return re.match(pattern, text) is not None
    except re.error as error:
        raise TdbgError(f"this is not a regular expression ({error}): {pattern}") from None


def place_of(node: ProfiledNode) -> str:
    """Names a node's line as ``train.py:12(loss)``; "" when the line is not known."""
    frame = node.frame
    return f"{short_path(frame.file)}:{frame.line}({frame.function})" if frame else ""


def _line_of(node: ProfiledNode) -> tuple[str, int]:
    return (node.frame.file, node.frame.line) if node.frame else ("", 0)


SORT_KEYS: dict[str, Callable[[ProfiledNode], Any]] = {
    "node": lambda node: node.node,
    "op_type": lambda node: node.type,
    "start_time": lambda node: node.start,
    "op_time": lambda node: node.op_time,
    "exec_time": lambda node: node.exec_time,
    "line": _line_of,
}


def list_profile(
    nodes: Iterable[ProfiledNode],
    chosen: ProfileFilter | None = None,
    sort_by: str = "start_time",
    reverse: bool = False,
) -> list[ProfiledNode]:
    """Filters and sorts profiled nodes. TdbgError when there is nothing to sort by under that name, or a filter is not
    a regular expression."""
    if sort_by not in SORT_KEYS:
        raise TdbgError(f"a profile cannot be sorted by {sort_by}, only by {', '.join(SORT_KEYS)}")
    passing = [node for node in nodes if chosen is None or chosen.passes(node)]
    return sorted(passing, key=SORT_KEYS[sort_by], reverse=reverse)


@dataclass(frozen=True, slots=True)
class ProfileTotal:
    """The times of all nodes that have one thing in common."""

    key: str
    nodes: int
    runs: int  # of the nodes; a node in a loop runs often
    op_time: int
    exec_time: int


_KEYS: dict[str, Callable[[ProfiledNode], str]] = {
    "node": lambda node: node.node,
    "op_type": lambda node: node.type,
    "device": lambda node: node.device,
    "line": place_of,
}


def totals(nodes: Iterable[ProfiledNode], by: str) -> list[ProfileTotal]:
    """Adds times up by node, op_type, device or line; what took longest comes first."""
    if by not in _KEYS:
        raise TdbgError(f"there are no totals by {by}, only by {', '.join(_KEYS)}")
    groups: dict[str, list[ProfiledNode]] = {}
    for node in nodes:
        groups.setdefault(_KEYS[by](node), []).append(node)
    found = [_total(key, group) for key, group in groups.items()]
    return sorted(found, key=lambda total: (-total.exec_time, total.key))


def line_totals(nodes: Iterable[ProfiledNode], file: str) -> dict[int, ProfileTotal]:
    """Adds up what each line of a file cost."""
    groups: dict[int, list[ProfiledNode]] = {}
    for node in nodes:
        if node.frame and node.frame.file == file:
            groups.setdefault(node.frame.line, []).append(node)
    return {line: _total(str(line), group) for line, group in sorted(groups.items())}


def _total(key: str, group: Sequence[ProfiledNode]) -> ProfileTotal:
    places = {(node.device, node.node) for node in group}
    op_time, exec_time = sum(node.op_time for node in group), sum(node.exec_time for node in group)
    return ProfileTotal(key, len(places), len(group), op_time, exec_time)


def read_profile(trace: Trace, execution: int | None = None) -> list[ProfiledNode]:
    """Reads the profiled nodes of a trace: of one execution, or of all."""
    found: list[ProfiledNode] = []
    programs: dict[int, Program] = {}
    for row in trace.table("profile").to_pylist():
        if execution is not None and row["execution"] != execution:
            continue
        program = programs.setdefault(row["process"], Program(trace, row["process"]))
        frame = next((frame for frame in program.stack(row["stack"]) if frame.is_user), None)
        times = (row["start"], row["op_time"], row["exec_time"])
        found.append(ProfiledNode(row["node"], row["type"], row["device"], *times, frame))
    return found
