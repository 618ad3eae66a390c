"""Writes a trace as a DebugEvents directory that TensorFlow's own reader and TensorBoard's Debugger V2 understand."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from tdbg.formats.debug_events.clock import to_seconds
from tdbg.formats.debug_events.file_sets import KINDS
from tdbg.formats.debug_events.messages import (
    FILE_VERSION,
    CodeLocation,
    DebugMode,
    Device,
    Execution,
    Graph,
    GraphOp,
    Message,
    Metadata,
    SourceFile,
    StackFrame,
    event,
    trace_event,
    trace_head,
)
from tdbg.formats.debug_events.records import write_record
from tdbg.formats.debug_events.tensors import NO_TENSOR, NUMBERS, put_full, put_summary
from tdbg.model import COUNTS, DType, Flag, is_bad
from tdbg.store.process import ProcessInfo
from tdbg.store.reader import StoredTrace
from tdbg.store.sql import record_batches
from tdbg.store.tensors import RawValue

_MODES = {"none": "NO_TENSOR", "health": "CURT_HEALTH", "shape": "SHAPE"}
_NO_DEVICE = "unknown"
_CHUNK = 50_000
_ROW = ("time", "execution", "op", "slot", "dtype", "shape", *COUNTS, "flags", "tensor", "value")
_IS_OUTPUT = f"flags & {int(Flag.EVIDENCE)} = 0 AND NOT (flags & {int(Flag.INPUT)} != 0 AND o.graph < 0)"


@dataclass
class Exported:
    """What one process's directory holds, and what it does not."""

    executions: int = 0
    traces: int = 0
    left_out: int = 0  # rows that the format has no place for


def export_process(trace: StoredTrace, process: ProcessInfo, folder: Path) -> Exported:
    """Writes one file set into ``folder``, which is made. OSError when it cannot be written."""
    folder.mkdir(parents=True, exist_ok=True)
    return _Exporter(trace, process).write(folder)


class _Exporter:
    def __init__(self, trace: StoredTrace, process: ProcessInfo) -> None:
        self._trace, self._process, self._info = trace, process, process.info
        self._db = StoredTrace.connect(trace)  # the stored tables alone
        self._host = str(self._info.get("host") or "unknown")
        self._started = int(self._info.get("started") or 0)
        self._mode = _mode_of(self._info)
        self._files: dict[str, IO[bytes]] = {}
        self._ops = {row["op"]: row for row in self._rows("ops")}
        self._dims = {row["shape"]: row["dims"] for row in self._rows("shapes")}
        self._graph_ids = {row["graph"]: f"graph-{row['graph']}" for row in self._rows("graphs")}
        self._names: dict[int, str] = {}
        self._tensor_ids: dict[int, list[int]] = {}
        self._devices: dict[str, int] = {}
        named = {op["device"] for op in self._ops.values() if op["device"]}
        # Where a graph's op runs is decided after it was built; where all that is known ran on one device, so did it.
        self._only_device = named.pop() if len(named) == 1 else ""
        self._locations: dict[int, bytes] = {}

    def write(self, folder: Path) -> Exported:
        done = Exported()
        prefix = f"tfdbg_events.{self._started // 10**9}.{self._host}"
        with ExitStack() as stack:
            for kind in KINDS:
                self._files[kind] = stack.enter_context(open(folder / f"{prefix}.{kind}", "wb"))
            self._write_metadata()
            self._write_frames()
            self._write_graphs()
            done.traces = self._write_traces()
            done.executions, outputs = self._write_executions()
        rows = self._ask("SELECT count(*) FROM tensors WHERE process = ?").fetchone()
        done.left_out = (rows[0] if rows else 0) - done.traces - outputs
        return done

    # ---- tables

    def _ask(self, sql: str) -> Any:
        return self._db.execute(sql, [self._process.index])

    def _rows(self, table: str) -> list[dict[str, Any]]:
        return list(self._stream(f"SELECT * FROM {table} WHERE process = ?"))

    def _stream(self, sql: str) -> Iterator[dict[str, Any]]:
        for batch in record_batches(self._db, sql, [self._process.index], _CHUNK):
            yield from batch.to_pylist()

    def _put(self, kind: str, time: int, message: Message) -> None:
        write_record(self._files[kind], event(to_seconds(time), message))

    # ---- what was built

    def _write_metadata(self) -> None:
        version = (self._info.get("versions") or {}).get("tensorflow", "")
        run = (self._info.get("imported") or {}).get("run_id") or self._process.name
        self._put("metadata", self._started, Metadata(version, FILE_VERSION, run))

    def _write_frames(self) -> None:
        """A frame names its file by its number among the source files, so every file is one, with text or without."""
        frames = {row["frame"]: row for row in self._rows("frames")}
        sources = {row["file"]: row for row in self._rows("sources")}
        numbers: dict[str, int] = {}
        for row in frames.values():
            if row["file"] not in numbers:
                numbers[row["file"]] = len(numbers)
                source = sources.get(row["file"])
                lines = source["text"].split("\n") if source else []
                time = source["time"] if source else self._started
                self._put("source_files", time, SourceFile(row["file"], self._host, lines))
            frame = StackFrame(f"frame-{row['frame']}", numbers[row["file"]], row["line"], row["function"])
            self._put("stack_frames", self._started, frame)
        stacks = {row["stack"]: row for row in self._rows("stacks")}
        for number in stacks:
            ids, at = [], number
            while at in stacks:
                if stacks[at]["frame"] in frames:
                    ids.append(f"frame-{stacks[at]['frame']}")
                at = stacks[at]["parent"]
            self._locations[number] = CodeLocation(self._host, tuple(reversed(ids))).body()

    def _write_graphs(self) -> None:
        """An op must come after its graph and a graph after the one around it."""
        graphs = {row["graph"]: row for row in self._rows("graphs")}
        written: set[int] = set()

        def put(number: int) -> None:
            if number in written or number not in graphs:
                return
            written.add(number)
            row = graphs[number]
            put(row["outer"])
            outer = self._graph_ids[row["outer"]] if row["outer"] in written else ""
            self._put("graphs", row["time"], Graph(self._graph_ids[number], row["name"], outer))

        for number in graphs:
            put(number)
        self._name_ops(graphs)
        last_slots = dict(
            self._ask("SELECT op, max(slot) FROM tensors t WHERE process = ? AND flags & 16 = 0 GROUP BY op").fetchall()
        )
        next_id = 1
        for number, op in self._ops.items():
            count = max(len(op["output_dtypes"]), last_slots.get(number, -1) + 1)
            self._tensor_ids[number] = list(range(next_id, next_id + count))
            next_id += count
            if op["graph"] in graphs:
                self._put("graphs", graphs[op["graph"]]["time"], self._graph_op(number, op, graphs))
        for op in self._ops.values():
            self._device(op["device"])

    def _name_ops(self, graphs: Mapping[int, Any]) -> None:
        """TensorFlow's reader refuses a graph in which two ops have one name."""
        taken: dict[int, set[str]] = defaultdict(set)
        for number, op in self._ops.items():
            name, n = op["name"], 1
            while name in taken[op["graph"]] and op["graph"] in graphs:
                n += 1
                name = f"{op['name']}__{n}"
            taken[op["graph"]].add(name)
            self._names[number] = name

    def _graph_op(self, number: int, op: dict[str, Any], graphs: Mapping[int, Any]) -> GraphOp:
        inputs = [
            f"{self._names.get(source, 'unknown')}:{max(slot, 0)}"
            for source, slot in zip(op["input_ops"], op["input_slots"], strict=True)
        ]
        return GraphOp(
            op["type"], self._names[number], graphs[op["graph"]]["name"], self._graph_ids[op["graph"]], op["device"],
            inputs, len(self._tensor_ids[number]), self._location(op["stack"]), self._tensor_ids[number],
        )  # fmt: skip

    def _location(self, stack: int) -> bytes:
        return self._locations.get(stack) or CodeLocation(self._host).body()

    def _device(self, name: str) -> int:
        name = name or self._only_device or _NO_DEVICE
        if name not in self._devices:
            self._devices[name] = len(self._devices) + 1  # 0 is what a reader takes for none
            self._put("graphs", self._started, Device(name, self._devices[name]))
        return self._devices[name]

    # ---- what was computed

    def _write_traces(self) -> int:
        heads: dict[tuple[int, int, int], bytes] = {}
        count = 0
        sql = (
            f"SELECT {', '.join('t.' + name for name in _ROW)} FROM tensors t JOIN ops o USING (process, op) "
            f"WHERE t.process = ? AND o.graph >= 0 AND {_IS_OUTPUT} ORDER BY t.seq"
        )
        file = self._files["graph_execution_traces"]
        for row in self._stream(sql):
            op = self._ops[row["op"]]
            if op["graph"] not in self._graph_ids:
                continue
            slot = max(row["slot"], 0)
            mode = self._mode_for([row])
            key = (row["op"], slot, mode)
            head = heads.get(key)
            if head is None:
                name, graph = self._names[row["op"]], self._graph_ids[op["graph"]]
                head = heads[key] = trace_head(graph, name, slot, mode, op["device"] or self._only_device)
            tensor = self._tensor(row, mode, self._tensor_ids[row["op"]][slot])
            write_record(file, trace_event(to_seconds(row["time"]), head, tensor))
            count += 1
        return count

    def _write_executions(self) -> tuple[int, int]:
        """TensorFlow notes an execution when it is over, so they are in the order in which they ended."""
        rows: dict[int, list[dict[str, Any]]] = defaultdict(list)
        sql = (
            f"SELECT {', '.join('t.' + name for name in _ROW)} FROM tensors t JOIN ops o USING (process, op) "
            f"WHERE t.process = ? AND o.graph < 0 AND {_IS_OUTPUT} ORDER BY t.seq"
        )
        for row in self._stream(sql):
            rows[row["execution"]].append(row)
        sql = (
            "SELECT x.execution, x.op, x.graph, x.inputs, coalesce(e.time, x.time) AS time, e.outputs "
            "FROM executions x LEFT JOIN ends e USING (process, execution) WHERE x.process = ? ORDER BY 5, 1"
        )
        executions = outputs = 0
        for call in self._stream(sql):
            made = rows.get(call["execution"], [])
            self._put("execution", call["time"], self._execution(call, made))
            executions, outputs = executions + 1, outputs + len(made)
        return executions, outputs

    def _execution(self, call: dict[str, Any], made: list[dict[str, Any]]) -> Execution:
        op = self._ops.get(call["op"]) or {"type": "unknown", "stack": -1, "device": "", "output_dtypes": []}
        by_slot = {row["slot"]: row for row in made}
        ids = list(call["outputs"] or [])
        # What was not looked at, such as integers, is an output all the same.
        for slot in range(len(ids), max(len(op["output_dtypes"]), max(by_slot, default=-1) + 1)):
            ids.append(by_slot[slot]["tensor"] if slot in by_slot else -1)
        mode = self._mode_for([by_slot.get(slot) for slot in range(len(ids))] if by_slot else [])
        tensors: list[bytes] = []
        if mode != DebugMode.NO_TENSOR:
            # One for each output, empty where nothing is known, so that the n-th is that of slot n.
            tensors = [self._tensor(by_slot[n], mode, -1) if n in by_slot else b"" for n in range(len(ids))]
        device = self._device(op["device"])
        graph = self._graph_ids.get(call["graph"], "")
        return Execution(
            op["type"], graph, call["inputs"], ids, mode, tensors, self._location(op["stack"]), [device] * len(ids)
        )

    def _mode_for(self, rows: list[dict[str, Any] | None]) -> DebugMode:
        """TensorFlow's reader fails on a full tensor that is not there: such events are written as their summary."""
        if self._mode != DebugMode.FULL_TENSOR:
            return self._mode
        is_whole = rows and all(row is not None and row["value"] >= 0 for row in rows)
        return DebugMode.FULL_TENSOR if is_whole else DebugMode.FULL_HEALTH

    def _tensor(self, row: dict[str, Any], mode: DebugMode, tensor_id: int) -> bytes:
        """Empty where the trace does not know what this mode tells."""
        if mode == DebugMode.FULL_TENSOR:
            value = self._trace.value(self._process.index, row["value"])
            if isinstance(value, RawValue):
                return put_full(value.dtype, value.dims, value.data)
            return put_full(DType(row["dtype"]), value.shape, value.tobytes())
        if mode == DebugMode.NO_TENSOR:
            return NO_TENSOR
        columns = _columns(row, mode, self._dims.get(row["shape"]))
        return put_summary([tensor_id, *columns]) if columns is not None else b""


def _columns(row: dict[str, Any], mode: DebugMode, dims: list[int] | None) -> list[float] | None:
    bad = [row["neg_inf"], row["pos_inf"], row["nan"]]
    dtype = NUMBERS.get(DType(row["dtype"]), -1)
    if mode == DebugMode.CURT_HEALTH:
        return [float(is_bad(row["flags"]))]
    if mode == DebugMode.CONCISE_HEALTH and None not in bad:
        return [row["elements"], *bad]
    if mode == DebugMode.FULL_HEALTH and None not in bad and row["zero"] is not None and dims is not None:
        return [-1, dtype, len(dims), row["elements"], *bad, row["negative"], row["zero"], row["positive"]]
    if mode == DebugMode.SHAPE and dims is not None:
        last = dims[-6:] if len(dims) > 6 else [*dims, *[0] * (6 - len(dims))]
        return [dtype, len(dims), row["elements"], *last]
    return None


def _mode_of(info: Mapping[str, Any]) -> DebugMode:
    told = info.get("debug_mode")
    if isinstance(told, str) and told in DebugMode.__members__:
        return DebugMode[told]
    return DebugMode[_MODES.get(str(info.get("mode")), "FULL_HEALTH")]
