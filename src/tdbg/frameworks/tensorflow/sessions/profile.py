"""Reads each node's device, times and source line from the RunMetadata of a profiled run (FULL_TRACE), also as rows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tensorflow.core.framework import node_def_pb2

from tdbg.frames import is_user_file
from tdbg.frameworks.tensorflow.sessions.matching import fed_name
from tdbg.frameworks.tensorflow.sessions.source_lines import UserOps
from tdbg.model import TOGETHER, Frame, ProfiledNode

_LABEL = re.compile(r"(?:\[[^\]]*\]\s*)?.* = (?P<type>\w+)\(")
_OF_DEVICE = re.compile(r":\w+$")  # what devices put behind a node's name: ``MatMul:MatMul``


def profiled_nodes(run_metadata: Any, graph: Any = None) -> list[ProfiledNode]:
    """In the order they began; with the tf.Graph that was run also types, and lines of the user's code."""
    return [
        ProfiledNode(*facts, _user_frame(op) if op is not None else None)
        for facts, op in _measured(run_metadata, graph)
    ]


def record_profile(
    run_metadata: Any, graph: Any, execution: int, stack_of: Callable[[list], int], add: Callable[[str, tuple], None]
) -> int:
    """Adds a row of the table ``profile`` for each node, and says how many; ``stack_of`` gives the number of a stack of
    (file, line, function), the outermost first."""
    count = 0
    for (node, op_type, device, *times), op in _measured(run_metadata, graph):
        frames = [(frame.filename, frame.lineno, frame.name) for frame in op.traceback or ()] if op is not None else []
        add("profile", (execution, node, op_type, device, *times, stack_of(frames) if frames else -1))
        count += 1
    return count


def _measured(run_metadata: Any, graph: Any) -> Iterator[tuple[tuple[str, str, str, int, int, int], Any]]:
    """(node, type, device, start, op time, exec time) and the op that the user made, if it can be told. Ops that
    TensorFlow computed as one have one time: ``MatMul+AddV2+Relu``."""
    found = [(stats, device.device) for device in run_metadata.step_stats.dev_stats for stats in device.node_stats]
    user_ops = UserOps(graph) if graph is not None else None
    names = {_OF_DEVICE.sub("", stats.node_name) for stats, _ in found}
    names |= {fed[0] for fed in map(fed_name, names) if fed}
    for stats, device in sorted(found, key=lambda one: _ns(one[0], "all_start")):
        op, is_same = _op_of(graph, stats.node_name)
        op_type = _type_in(stats.timeline_label)
        if op is not None and user_ops is not None and is_same:
            node = node_def_pb2.NodeDef(name=op.name, op=op_type or op.type)
            parts = user_ops.parts(node, names) if op_type[:1] == "_" else []
            op_type = TOGETHER.join([part.op.type for part in reversed(parts)] or [op.type])
        op_time = _ns(stats, "op_end_rel") - _ns(stats, "op_start_rel")
        times = (_ns(stats, "all_start"), op_time, _ns(stats, "all_end_rel"))
        yield (stats.node_name, op_type, device, *times), op


def _ns(stats: Any, name: str) -> int:
    """Older runtimes measure in µs only."""
    return getattr(stats, f"{name}_nanos") or getattr(stats, f"{name}_micros") * 1000


def _op_of(graph: Any, node: str) -> tuple[Any, bool]:
    """The op of this name, or else the nearest scope that is one: TensorFlow's optimizer names what it makes after
    what it replaces. And whether it is the very op."""
    name, is_same = _OF_DEVICE.sub("", node), True
    fed = fed_name(name)
    if fed:
        name, is_same = fed[0], False
    while graph is not None and name:
        try:
            return graph.get_operation_by_name(name), is_same
        except (KeyError, ValueError):
            name, is_same = name.rpartition("/")[0], False
    return None, False


def _type_in(label: str) -> str:
    """``hidden/mm = MatMul(x, w)`` → ``MatMul``."""
    match = _LABEL.match(label)
    return match["type"] if match else ""


def _user_frame(op: Any) -> Frame | None:
    for frame in reversed(op.traceback or ()):
        if is_user_file(frame.filename):
            return Frame(frame.filename, frame.lineno, frame.name, True)
    return None
