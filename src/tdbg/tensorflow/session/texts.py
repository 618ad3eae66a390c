"""Runs that begin or have ended in; the lines that tell about them out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import numpy as np

from tdbg.tensorflow.session.dump_dir import DebugDumpDir, DebugTensorDatum, has_inf_or_nan
from tdbg.tensorflow.session.error_texts import error_lines
from tdbg.tensorflow.session.filters import TensorFilter
from tdbg.tensorflow.session.profile import profiled_nodes
from tdbg.tensorflow.session.prompt import RunEnd, RunStart
from tdbg.tensorflow.session.source_lines import user_line

_MOST_LINES = 10
_BAR = "=" * 46


def run_start_lines(info: RunStart) -> list[str]:
    feeds = [f"  {name}" for name in info.feeds] or ["  (Empty)"]
    return [
        _BAR,
        f"Session.run() call #{info.number}:",
        "",
        "Fetch(es):",
        *(f"  {name}" for name in info.fetches),
        "",
        "Feed dict:",
        *feeds,
        _BAR,
        "",
        "  run                 run it, and look at its tensors",
        "  run -n              run it without the debugger",
        "  run -t <T>          run T times, and look at the last one",
        "  run -f <filter>     run until a tensor passes a filter: " + ", ".join(info.filters),
        "  help                everything else",
        "",
    ]


def run_end_lines(info: RunEnd) -> list[str]:
    lines = [f"run-end: {info.start.description}"]
    if info.error is not None:
        lines += error_lines(info.error, info.start.feeds, info.dump)
    if info.dump is not None:
        lines += _dump_lines(info, info.dump)
    if info.profile is not None:
        lines += profile_lines(info.profile, info.graph)
    return lines


def _dump_lines(info: RunEnd, dump: DebugDumpDir) -> Iterator[str]:
    yield f"{dump.size} dumped tensor(s)"
    if not dump.size:
        yield "no such tensor was computed: TensorFlow may have merged it with others, or computed it beforehand"
    if info.passed_filter:
        function = info.start.filters[info.passed_filter]
        passed = TensorFilter(info.passed_filter, function).find(dump, exclude_nodes=info.exclude_nodes)
        yield f'{len(passed)} dumped tensor(s) passing filter "{info.passed_filter}":'
        yield from tensor_table(dump, passed[:_MOST_LINES])
        if len(passed) > _MOST_LINES:
            yield f"… and {len(passed) - _MOST_LINES} more"
    bad = dump.find(has_inf_or_nan, first_n=1)
    if bad:
        yield f"first bad tensor: {bad[0].tensor_name}, {_bad_elements(bad[0].get_tensor())}"
        yield from user_line(info.graph, bad[0].node_name)


def tensor_table(dump: DebugDumpDir, data: list[DebugTensorDatum]) -> list[str]:
    """Time, size, op type and name of some dumps."""
    rows = [("t (ms)", "Size (B)", "Op type", "Tensor name")]
    began = dump.t0 or 0
    for datum in data:
        time = f"[{(datum.timestamp - began) / 1000:.3f}]"
        rows.append((time, str(datum.dump_size_bytes), _op_type(dump, datum), datum.tensor_name))
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return ["  ".join([*(row[n].ljust(widths[n]) for n in range(3)), row[3]]) for row in rows]


def profile_lines(metadata: Any, graph: Any) -> list[str]:
    """The nodes that took most of the time, and their lines."""
    nodes = sorted(profiled_nodes(metadata, graph), key=lambda node: -node.op_time)
    total = sum(node.op_time for node in nodes) // 1000
    lines = [
        f"{len(nodes)} nodes on {len({node.device for node in nodes})} device(s), {total:,} µs in ops; the slowest:"
    ]
    for node in nodes[:_MOST_LINES]:
        place = f"  {os.path.basename(node.frame.file)}:{node.frame.line}" if node.frame else ""
        lines.append(f"  {node.op_time / 1000:>10,.1f} µs  {node.type:<12} {node.node}{place}")
    return lines


def _bad_elements(tensor: Any) -> str:
    counts = {
        "NaN": np.isnan(tensor),
        "-inf": np.isneginf(tensor) if tensor.dtype.kind == "f" else np.zeros(1, bool),
        "+inf": np.isposinf(tensor) if tensor.dtype.kind == "f" else np.isinf(tensor),
    }
    found = [f"{name} ×{int(mask.sum()):,}" for name, mask in counts.items() if mask.any()]
    return f"{', '.join(found)} of {tensor.size:,}"


def _op_type(dump: DebugDumpDir, datum: DebugTensorDatum) -> str:
    try:
        return dump.node_op_type(datum.node_name, device_name=datum.device_name)
    except (LookupError, ValueError):
        return "?"
