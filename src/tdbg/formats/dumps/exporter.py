"""Writes a trace as a dump root that tfdbg and its DebugDumpDir read: one folder for each call of a graph.

A tensor that was kept whole becomes a DebugIdentity dump, one that was only measured a DebugNumericSummary.
"""

from __future__ import annotations

import errno
import itertools
import json
import math
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdbg.errors import TdbgError
from tdbg.formats.debug_events.tensors import NUMBERS, put_full, put_summary
from tdbg.formats.debug_events.wire import put_double, put_message, put_text, put_texts
from tdbg.formats.dumps.names import (
    CORE_METADATA_PREFIX,
    FEEDS_NAME,
    FETCHES_NAME,
    GRAPH_PREFIX,
    as_path,
    folder_of_device,
    watch_key,
)
from tdbg.model import DType, Flag
from tdbg.store.plain_files import json_object
from tdbg.store.process import ProcessInfo
from tdbg.store.reader import StoredTrace
from tdbg.store.sql import record_batches
from tdbg.store.tensors import RawValue

_NO_DEVICE = "/job:localhost/replica:0/task:0/device:CPU:0"
_CHUNK = 20_000
_RECEIVES = ("_Recv", "_HostRecv")
_PARTS = re.compile(r"([^\s,]+) \(")  # of the attribute _stands_for


@dataclass
class Exported:
    """What was written, and what the format has no place for."""

    runs: int = 0
    tensors: int = 0
    left_out: int = 0


def export_process(trace: StoredTrace, process: ProcessInfo, root: Path) -> Exported:
    """Writes into ``root``, which is made. OSError when it cannot be written."""
    root.mkdir(parents=True, exist_ok=True)
    return _Exporter(trace, process, root).write()


class _Exporter:
    def __init__(self, trace: StoredTrace, process: ProcessInfo, root: Path) -> None:
        self._trace, self._index, self._root = trace, process.index, root
        self._db = StoredTrace.connect(trace)
        self._ops = {op["op"]: op for op in self._rows("ops")}
        self._names = {number: _runtime_name(op) for number, op in self._ops.items()}
        self._dims = {row["shape"]: row["dims"] for row in self._rows("shapes")}
        self._signatures = {row["graph"]: row for row in self._rows("signatures")}
        self._runs = {row["execution"]: row for row in self._rows("runs")}
        self._executions = {row["execution"]: row for row in self._rows("executions") if row["graph"] >= 0}
        self._by_graph: dict[int, list[dict[str, Any]]] = defaultdict(list)
        self._controls: dict[int, list[int]] = defaultdict(list)
        for op in self._ops.values():
            self._by_graph[op["graph"]].append(op)
        for row in self._rows("controls"):
            self._controls[row["op"]].append(row["input_op"])
        self._folders: dict[int, Path] = {}
        self._done = Exported()

    def write(self) -> Exported:
        for number, execution in self._executions.items():
            self._begin_run(number, execution)
        for row in self._stream("SELECT * FROM tensors WHERE process = ? ORDER BY seq"):
            call, op = self._executions.get(row["execution"]), self._ops.get(row["op"])
            is_own = call is not None and op is not None and op["graph"] == call["graph"]
            if is_own and not row["flags"] & Flag.EVIDENCE and self._write_tensor(row):
                self._done.tensors += 1
            else:
                self._done.left_out += 1
        return self._done

    def _rows(self, table: str) -> Iterator[dict[str, Any]]:
        return self._stream(f"SELECT * FROM {table} WHERE process = ?")

    def _stream(self, sql: str) -> Iterator[dict[str, Any]]:
        for batch in record_batches(self._db, sql, [self._index], _CHUNK):
            yield from batch.to_pylist()

    # ---- runs

    def _begin_run(self, number: int, execution: dict[str, Any]) -> None:
        time = execution["time"] // 1000
        folder = self._folders[number] = self._root / f"run_{time}_{number}"
        folder.mkdir()
        asked = self._signatures.get(execution["graph"], {})
        told = self._runs.get(number, {})
        fetches, feeds = asked.get("fetches", []), asked.get("feeds", [])
        about = {
            "global_step": told.get("global_step", -1), "session_run_index": told.get("run", number),
            "executor_step_index": 0, "input_names": feeds, "output_names": fetches,
            "target_nodes": asked.get("targets", []),
        }  # fmt: skip
        name = f"{CORE_METADATA_PREFIX}sessionrun{max(about['session_run_index'], 0):014d}_{time}"
        for file, text in ((name, json.dumps(about)), (FETCHES_NAME, repr(fetches)), (FEEDS_NAME, repr(feeds))):
            (folder / file).write_bytes(put_double(1, time) + put_message(6, put_text(2, text)))
        self._write_graphs(folder, execution["graph"], time)
        self._done.runs += 1

    def _write_graphs(self, folder: Path, graph: int, time: int) -> None:
        by_device: dict[str, list[bytes]] = defaultdict(list)
        gone = {name for op in self._by_graph[graph] for name in _PARTS.findall(_attributes(op).get("_stands_for", ""))}
        for op in self._by_graph[graph]:
            if op["name"] in gone and not op["input_ops"]:  # it became part of another
                continue
            by_device[op["device"] or _NO_DEVICE].append(put_message(1, self._node(op)))
        for device, nodes in by_device.items():
            place = folder / folder_of_device(device)
            place.mkdir(parents=True, exist_ok=True)
            (place / f"{GRAPH_PREFIX}hash{graph}_{time}").write_bytes(
                put_double(1, time) + put_message(4, b"".join(nodes))
            )

    def _node(self, op: dict[str, Any]) -> bytes:
        inputs = []
        if op["type"] not in _RECEIVES:  # what another device sends is no input here
            pairs = zip(op["input_ops"], op["input_slots"], strict=True)
            inputs = [f"{self._names[n]}:{slot}" if slot else self._names[n] for n, slot in pairs if n in self._names]
        inputs += [f"^{self._names[number]}" for number in self._controls[op["op"]] if number in self._names]
        runtime_type = _attributes(op).get("runtime_type") or op["type"]
        head = put_text(1, self._names[op["op"]]) + put_text(2, str(runtime_type))
        return head + put_texts(3, inputs) + put_text(4, op["device"])

    # ---- tensors

    def _write_tensor(self, row: dict[str, Any]) -> bool:
        op, slot = self._ops[row["op"]], row["slot"]
        node = self._names[row["op"]]
        path = as_path(node)
        tensor, debug_op = self._content(row)
        if not tensor or path is None or slot < 0:
            return False
        device = op["device"] or _NO_DEVICE
        place = self._folders[row["execution"]] / folder_of_device(device) / path
        time = row["time"] // 1000
        about = json.dumps({"device": device, "outputSlot": slot, "numChunks": 1, "chunkIndex": 0})
        plugin = put_message(9, put_message(1, put_text(1, "debugger") + put_text(2, about)))
        value = put_text(7, watch_key(node, slot, debug_op)) + put_message(8, tensor) + plugin
        event = put_double(1, time) + put_message(5, put_message(1, value))
        return _write_new(f"{place}_{slot}_{debug_op}_{time}", event)

    def _content(self, row: dict[str, Any]) -> tuple[bytes, str]:
        """A TensorProto, empty when nothing is known, and the debug op that makes such."""
        if row["value"] >= 0:
            try:
                value = self._trace.value(self._index, row["value"])
            except TdbgError:  # damaged: then its numbers are all that is left
                value = None
            if value is not None and not isinstance(value, RawValue):
                return put_full(DType(row["dtype"]), value.shape, value.tobytes()), "DebugIdentity"
        if not row["flags"] & Flag.NUMBERS:
            return b"", ""
        return self._summary(row), "DebugNumericSummary"

    def _summary(self, row: dict[str, Any]) -> bytes:
        counts = [row[name] for name in ("nan", "neg_inf", "negative", "zero", "positive", "pos_inf")]
        least, most, mean, std = (row[name] for name in ("min", "max", "mean", "std"))
        if math.isnan(least):
            least, most = math.inf, -math.inf
        dims = self._dims.get(row["shape"], [])
        numbers = [least, most, mean, std * std, NUMBERS.get(DType(row["dtype"]), 0), len(dims), *dims]
        return put_summary([1.0, row["elements"], *counts, *numbers])


def _attributes(op: dict[str, Any]) -> dict[str, Any]:
    try:
        return json_object(op["attributes"])
    except ValueError:
        return {}


def _runtime_name(op: dict[str, Any]) -> str:
    return str(_attributes(op).get("runtime_name") or op["name"])


def _write_new(path: str, content: bytes) -> bool:
    """Under the next free name, as the debugger does for dumps in the same microsecond; not at all where the name is
    too long for a file."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    for n in itertools.count():
        try:
            with open(f"{path}-{n}" if n else path, "xb") as file:
                file.write(content)
            return True
        except FileExistsError:
            continue
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG:
                return False
            raise
    return False
