"""Runs that begin or have ended in; the lines that tell about them out."""

from __future__ import annotations

import linecache
import os
from collections.abc import Iterator
from typing import Any, cast

import numpy as np
from tensorflow.core.framework import node_def_pb2

from tdbg.frames import is_user_file
from tdbg.tensorflow.session.client_graphs import ClientGraphs
from tdbg.tensorflow.session.dump_dir import DebugDumpDir, DebugTensorDatum, has_inf_or_nan
from tdbg.tensorflow.session.filters import TensorFilter
from tdbg.tensorflow.session.matching import Matching, fed_name
from tdbg.tensorflow.session.prompt import RunEnd, RunStart

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
        lines += error_lines(info.error, info.graph, info.dump)
    if info.dump is not None:
        lines += _dump_lines(info, info.dump)
    if info.profile is not None:
        lines += profile_lines(info.profile)
    return lines


def _dump_lines(info: RunEnd, dump: DebugDumpDir) -> Iterator[str]:
    yield f"{dump.size} dumped tensor(s)"
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


def error_lines(error: Any, graph: Any, dump: DebugDumpDir | None = None) -> list[str]:
    """The failed op, what went into it, where it was made, and what to look at next."""
    op = getattr(error, "op", None)
    message = (error.message or str(error)).strip().splitlines() or [""]
    lines = ["!!! An error occurred during the run !!!", f"{type(error).__name__}: {message[0]}"]
    if op is None:
        return [*lines, "TensorFlow does not say which op failed."]
    lines.append(f"Op:  {op.name} ({op.type})")
    for number, tensor in enumerate(op.inputs):
        shape = _dumped_shape(dump, tensor.name) or f"shape {tensor.shape}"
        lines.append(f"  input {number}: {tensor.name}  {tensor.dtype.name}, {shape}")
    lines.append("Made at:")
    lines += [f"  {line}" for line in _user_stack(op.traceback)]
    lines.append(f"Try: a look at the inputs above; `run -f has_inf_or_nan` if their values matter; op: {op.name}")
    return lines


def profile_lines(metadata: Any) -> list[str]:
    """The nodes that took most of the time."""
    nodes = [
        (stats.op_end_rel_micros - stats.op_start_rel_micros, stats.node_name, device.device)
        for device in metadata.step_stats.dev_stats
        for stats in device.node_stats
    ]
    nodes.sort(reverse=True)
    total = sum(time for time, *_ in nodes)
    lines = [f"{len(nodes)} nodes on {len(metadata.step_stats.dev_stats)} device(s), {total:,} µs in ops; the slowest:"]
    return lines + [f"  {time:>8,} µs  {name}  {device}" for time, name, device in nodes[:_MOST_LINES]]


def user_line(graph: Any, node_name: str) -> list[str]:
    """`` -> file.py:12  the text``: where the user's code made a node, or the one that it was optimized from."""
    node = node_def_pb2.NodeDef(name=node_name, op="_Arg" if fed_name(node_name) else "")
    op: Any = Matching(cast(ClientGraphs, _AsItIs()), graph).of(node).op
    return [f" -> {line}" for line in _user_stack(op.traceback)[-1:]] if op is not None else []


class _AsItIs:
    """Ops of a tf.Graph, for which nothing was recorded."""

    def op(self, graph: Any, name: str) -> Any:
        try:
            return graph.get_operation_by_name(name)
        except (KeyError, ValueError):
            return None

    def in_function(self, function: str, name: str) -> None:
        return None


def _user_stack(traceback: Any) -> list[str]:
    """The user's own frames, the innermost last."""
    return [
        f"{os.path.basename(file)}:{line}  {linecache.getline(file, line).strip()}"
        for file, line, *_ in map(tuple, traceback or ())
        if is_user_file(file)
    ]


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


def _dumped_shape(dump: DebugDumpDir | None, tensor_name: str) -> str:
    if dump is None:
        return ""
    found = [datum for datum in dump.dumped_tensor_data if datum.tensor_name == tensor_name]
    shape = getattr(found[-1].get_tensor(), "shape", None) if found else None
    return "" if shape is None else f"shape {tuple(shape)} in this run"
