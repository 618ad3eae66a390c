"""Makes a trace of a DebugEvents directory, with one process folder for each file set.

The traces are read twice, chunk by chunk: first for their times and graphs, from which follows which call and step each
belongs to, then for their rows. So memory does not grow with what the tensors hold.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from tdbg.formats.debug_events.calls import Calls, Executions, is_function
from tdbg.formats.debug_events.clock import to_ns, to_ns_array
from tdbg.formats.debug_events.columns import Columns
from tdbg.formats.debug_events.execution_columns import ExecutionColumns
from tdbg.formats.debug_events.file_sets import FileSet, find_file_sets
from tdbg.formats.debug_events.iterations import Iterations
from tdbg.formats.debug_events.messages import DebugMode, text
from tdbg.formats.debug_events.recorded_graphs import Op, Program
from tdbg.formats.debug_events.rows import Numbers, Shapes
from tdbg.model import Flag, Mode
from tdbg.store.place import whole_or_not_at_all
from tdbg.store.writer import TraceWriter

Progress = Callable[[float], None]

_MODES = {
    DebugMode.NO_TENSOR: Mode.NONE,
    DebugMode.CURT_HEALTH: Mode.HEALTH,
    DebugMode.CONCISE_HEALTH: Mode.HEALTH,
    DebugMode.FULL_HEALTH: Mode.NUMERICS,
    DebugMode.SHAPE: Mode.SHAPE,
    DebugMode.FULL_TENSOR: Mode.FULL,
}
_DEFAULT_RING = 1000  # of enable_dump_debug_info


@dataclass
class Imported:
    """What came of an import."""

    processes: int = 0
    executions: int = 0
    tensors: int = 0
    losses: int = 0


def import_debug_events(folder: Path, output: Path, progress: Progress = lambda share: None) -> Imported:
    """Writes a new trace at ``output``, which must not exist; whole or not at all. TdbgError when it cannot be."""
    sets = find_file_sets(folder)
    total = Imported()
    with whole_or_not_at_all(output) as part:
        for n, files in enumerate(sets):
            main = _main_of(files, sets)
            _Process(files, main, _part_of(progress, n, len(sets))).write(part, total)
    return total


def _part_of(progress: Progress, n: int, count: int) -> Progress:
    return lambda share: progress((n + share) / count)


def _main_of(files: FileSet, sets: list[FileSet]) -> FileSet:
    """In a distributed run only one process writes the graphs that the traces of all refer to."""
    run = files.metadata.run_id
    if files.files["graphs"].size or not run:
        return files
    return next((other for other in sets if other.metadata.run_id == run and other.files["graphs"].size), files)


class _Process:
    """One file set on its way into one process folder."""

    def __init__(self, files: FileSet, main: FileSet, progress: Progress) -> None:
        self._files, self._progress = files, progress
        self._program = Program(main)
        self._shapes = Shapes()
        self._modes: dict[int, int] = defaultdict(int)
        self._notes: list[tuple[str, int, str]] = []
        self._not_kept = self._no_slot = self._no_call = self._traces = 0

    def write(self, trace: Path, total: Imported) -> None:
        executions, columns = self._read_executions()
        times, roots = self._read_traces()
        self._calls = Calls(self._program, executions, times, roots)
        self._executions = executions
        self._row_counts = columns.rows_per_execution
        slots = np.concatenate([[0], np.cumsum(1 + self._row_counts)])
        ended = np.searchsorted(times, executions.time, "right")  # traces up to the end of each execution
        began = np.concatenate([[0], ended[:-1]]).astype(np.int64) if len(ended) else ended.astype(np.int64)
        self._seq = slots[:-1] + began
        self._output_seq = slots[:-1] + 1 + ended
        writer = TraceWriter(trace, self._about())
        try:
            self._first_trace = np.full(len(executions), np.inf)
            self._write_traces(writer, times, roots, slots)
            self._write_outputs(writer, columns)
            self._write_executions(writer, columns)
            self._write_program(writer)
            total.losses += self._write_notes(writer)
            writer.close(
                {"how": "", "status": None, "events": int(slots[-1] + len(times)), "ended": self._ended(times)}
            )
        except BaseException:
            writer.discard_buffered()
            raise
        total.processes += 1
        total.executions += writer.rows["executions"]
        total.tensors += writer.rows["tensors"]

    # ---- reading

    def _read_executions(self) -> tuple[Executions, ExecutionColumns]:
        columns = ExecutionColumns()
        times, ops, functions, graphs, inputs = [], [], [], [], []
        for chunk, _ in self._files.files["execution"].columns():
            columns.add(chunk)
            strings = [text(string) for string in chunk.strings]
            events = chunk.events
            times.append(events["time"])
            first_devices = events["first_id"] + events["inputs"] + events["outputs"]
            sites: dict[tuple[int, int, int], Op] = {}
            keys = zip(
                events["op"].tolist(), events["where"].tolist(), events["graph"].tolist(), first_devices.tolist(),
                events["devices"].tolist(), events["inputs"].tolist(), events["outputs_said"].tolist(), strict=True,
            )  # fmt: skip
            for op, where, graph, at, devices, given, outputs in keys:
                device = int(chunk.ids[at]) if devices else -1
                site = sites.get((op, where, device))
                if site is None:
                    location = chunk.strings[where] if where >= 0 else b""
                    name = self._program.devices.get(device, "")
                    site = sites[op, where, device] = self._program.site(strings[op] if op >= 0 else "", location, name)
                    site.observed = True
                site.outputs = max(site.outputs, outputs)
                ops.append(site.number)
                functions.append(site.type if is_function(site.type) else "")
                graphs.append(strings[graph] if graph >= 0 else "")
                inputs.append(given)
            for mode, count in zip(*np.unique(events["mode"], return_counts=True), strict=True):
                self._modes[int(mode)] += int(count)
        time = np.maximum.accumulate(np.concatenate(times)) if times else np.empty(0)
        return Executions(time, np.array(ops, np.int32), functions, graphs, inputs), columns

    def _read_traces(self) -> tuple[np.ndarray, np.ndarray]:
        file = self._files.files["graph_execution_traces"]
        times, roots = [], []
        for chunk, at in file.columns():
            times.append(chunk.events["time"])
            numbers = np.full(len(chunk.strings) + 1, -1, np.int32)
            for string in np.unique(chunk.events["graph"]).tolist():
                graph_id = text(chunk.strings[string]) if string >= 0 else ""
                numbers[string] = self._program.root(self._program.graph_number(graph_id))
            roots.append(numbers[chunk.events["graph"]])
            for mode, count in zip(*np.unique(chunk.events["mode"], return_counts=True), strict=True):
                self._modes[int(mode)] += int(count)
            self._progress(0.3 * at / file.size)
        if not times:
            return np.empty(0), np.empty(0, np.int32)
        return np.maximum.accumulate(np.concatenate(times)), np.concatenate(roots)

    # ---- writing

    def _about(self) -> dict[str, Any]:
        modes = {mode: count for mode, count in self._modes.items() if mode in set(DebugMode)}
        told = DebugMode(max(modes, key=lambda mode: modes[mode])) if modes else None
        metadata = self._files.metadata
        script = self._program.script
        return {
            "pid": 0,
            "host": self._program.host or self._files.host,
            "started": to_ns(self._files.started),
            "rank": 0,
            "argv": [script] if script else [],
            "mode": _MODES[told].label if told in _MODES else "unknown",
            "debug_mode": told.name if told is not None else None,
            "versions": {"tensorflow": metadata.tensorflow_version} if metadata.tensorflow_version else {},
            "filters": {},
            "steps": [0, None, 1],
            "imported": {"format": "tfdbg2", "run_id": metadata.run_id, "files": self._files.prefix},
        }

    def _ended(self, times: np.ndarray) -> int:
        last = [*times[-1:].tolist(), *self._executions.time[-1:].tolist(), self._files.started]
        return to_ns(max(last))

    def _write_traces(self, writer: TraceWriter, times: np.ndarray, roots: np.ndarray, slots: np.ndarray) -> None:
        file = self._files.files["graph_execution_traces"]
        loops = Iterations(self._program)
        done = 0
        for chunk, at in file.columns():
            events, count = chunk.events, len(chunk.events)
            when, root = times[done : done + count], roots[done : done + count]
            pending = self._calls.pending(when)
            execution = self._calls.execution_of(when, root)
            self._no_call += int(np.count_nonzero(execution < 0)) - self._datasets(root, execution)
            owned = execution >= 0
            np.minimum.at(self._first_trace, execution[owned], when[owned])
            ops = self._ops_of(chunk)
            first = np.where(events["tensors"] > 0, events["first_tensor"], len(chunk.tensors))
            none = np.zeros(1, chunk.tensors.dtype)
            tensors = np.concatenate([chunk.tensors, none])[first]
            numbers = Numbers(count)
            numbers.fill(events["mode"], tensors, self._shapes, file, writer.put_value)
            self._learn_dtypes(ops, events["slot"], numbers.dtype)
            self._not_kept += numbers.not_kept
            writer.append(
                "tensors",
                numbers.columns()
                | {
                    "seq": np.arange(done, done + count) + slots[pending] + (pending < len(self._executions)),
                    "time": to_ns_array(events["time"]),
                    "step": self._steps_at(pending),
                    "thread": np.full(count, -1, np.int32),
                    "execution": execution,
                    "op": ops,
                    "slot": events["slot"].astype(np.int16),
                    "iteration": loops.of(ops, events["slot"], execution),
                    "tensor": np.full(count, -1, np.int64),
                },
            )
            writer.flush()
            writer.seal_if_large()
            done = self._traces = done + count
            self._progress(0.3 + 0.7 * at / file.size)

    def _datasets(self, roots: np.ndarray, execution: np.ndarray) -> int:
        counts = zip(*np.unique(roots[execution < 0], return_counts=True), strict=True)
        return sum(int(count) for root, count in counts if self._calls.is_dataset(int(root)))

    def _ops_of(self, chunk: Columns) -> np.ndarray:
        pairs = chunk.events["graph"].astype(np.int64) << 32 | chunk.events["op"].astype(np.uint32)
        distinct, which = np.unique(pairs, return_inverse=True)
        numbers = []
        for pair in distinct.tolist():
            graph, name = pair >> 32, (pair & 0xFFFFFFFF)
            graph_id = text(chunk.strings[graph]) if graph >= 0 else ""
            op = self._program.graph_op(graph_id, text(chunk.strings[name]) if name != 0xFFFFFFFF else "")
            op.observed = True
            numbers.append(op.number)
        ops = np.array(numbers, np.int32)[which.reshape(-1)]
        self._learn_devices(chunk, ops)
        return ops

    def _learn_devices(self, chunk: Columns, ops: np.ndarray) -> None:
        _, first = np.unique(ops, return_index=True)
        for at in first.tolist():
            where = int(chunk.events["where"][at])
            op = self._program.ops[int(ops[at])]
            if where >= 0 and not op.device:
                op.device = text(chunk.strings[where])

    def _learn_dtypes(self, ops: np.ndarray, slots: np.ndarray, dtypes: np.ndarray) -> None:
        packed = ops.astype(np.int64) << 40 | slots.astype(np.int64) << 8 | dtypes
        for known in np.unique(packed[dtypes != 0]).tolist():
            self._program.ops[known >> 40].dtypes[known >> 8 & 0xFFFFFFFF] = known & 0xFF

    def _steps_at(self, pending: np.ndarray) -> np.ndarray:
        """What comes after the last execution is of its step."""
        step = self._calls.step
        return np.append(step, step[-1:] if len(step) else np.zeros(1, np.int32))[pending].astype(np.int32)

    def _write_outputs(self, writer: TraceWriter, columns: ExecutionColumns) -> None:
        file = self._files.files["execution"]
        base = 0
        for chunk in columns.chunks:
            events = chunk.events
            owner = np.repeat(np.arange(len(events)), events["tensors"])
            nth = np.arange(len(owner)) - np.repeat(np.cumsum(events["tensors"]) - events["tensors"], events["tensors"])
            kept = chunk.tensors["proto_length"] > 0
            owner, nth, tensors = owner[kept], nth[kept], chunk.tensors[kept]
            # A filter drops protos without saying which: then the slot is known only when there is one output.
            all_there = (events["tensors"] == events["outputs"])[owner]
            slot = np.where(all_there, nth, np.where(events["outputs"][owner] == 1, 0, -1))
            self._no_slot += int(np.count_nonzero(slot < 0))
            ids = np.append(chunk.ids, -1)
            place = events["first_id"][owner] + events["inputs"][owner] + slot
            numbers = Numbers(len(owner))
            numbers.fill(events["mode"][owner], tensors, self._shapes, file, writer.put_value)
            self._not_kept += numbers.not_kept
            execution = base + owner
            numbers.flags[np.isfinite(self._first_trace[execution])] |= np.uint16(Flag.RESULT)
            position = np.arange(len(owner)) - np.searchsorted(owner, owner, "left")
            ops = self._executions.op[execution]
            self._learn_dtypes(ops[slot >= 0], slot[slot >= 0].astype(np.int32), numbers.dtype[slot >= 0])
            writer.append(
                "tensors",
                numbers.columns()
                | {
                    "seq": self._output_seq[execution] + position,
                    "time": to_ns_array(events["time"][owner]),
                    "step": self._calls.step[execution],
                    "thread": np.full(len(owner), -1, np.int32),
                    "execution": execution,
                    "op": ops,
                    "slot": slot.astype(np.int16),
                    "iteration": np.full(len(owner), -1, np.int32),
                    "tensor": np.where(slot >= 0, ids[np.where(slot >= 0, place, -1)], -1),
                },
            )
            writer.flush()
            writer.seal_if_large()
            base += len(events)

    def _write_executions(self, writer: TraceWriter, columns: ExecutionColumns) -> None:
        count = len(self._executions)
        if not count:
            return
        graph = np.array([self._calls.graph.get(name, -1) if name else -1 for name in self._executions.function])
        ends = np.concatenate([chunk.events["time"] for chunk in columns.chunks])
        times = np.where(np.isfinite(self._first_trace), np.minimum(self._first_trace, ends), ends)
        seq_of_step = [(n, self._seq[at], to_ns(times[at]), why) for n, (at, why) in enumerate(self._calls.starts)]
        writer.append(
            "executions",
            {
                "execution": np.arange(count), "seq": self._seq, "time": to_ns_array(times), "step": self._calls.step,
                "thread": np.full(count, -1, np.int32), "op": self._executions.op, "graph": graph.astype(np.int32),
                "inputs": columns.ids("inputs"),
            },
        )  # fmt: skip
        writer.append(
            "ends",
            {
                "execution": np.arange(count), "time": to_ns_array(ends), "failed": np.zeros(count, bool),
                "outputs": columns.ids("outputs"),
            },
        )  # fmt: skip
        names = ("step", "seq", "time", "source")
        writer.append("steps", {name: [row[n] for row in seq_of_step] for n, name in enumerate(names)})

    def _write_program(self, writer: TraceWriter) -> None:
        for table, rows in self._program.rows():
            writer.append(table, rows)
        writer.append("shapes", self._shapes.rows())
        functions = self._calls.functions()
        writer.append(
            "functions",
            {
                "function": [name for name, _, _ in functions],
                "graph": [graph for _, graph, _ in functions],
                "input_ops": [ops for _, _, ops in functions],
                "output_ops": [[] for _ in functions],
                "output_slots": [[] for _ in functions],
                "python": [""] * len(functions),  # TensorFlow's files do not tell of the code behind a function
                "file": [""] * len(functions),
                "line": [-1] * len(functions),
                "instance": [-1] * len(functions),
                "signature": ["{}"] * len(functions),
            },
        )
        writer.flush()

    def _write_notes(self, writer: TraceWriter) -> int:
        lost = [(file.losses, kind) for kind, file in self._files.files.items()]
        texts = [(losses.count, losses.as_text(f"{self._files.prefix}.{kind}")) for losses, kind in lost]
        notes = [("damaged", count, text) for count, text in texts if text]
        losses = len(notes)
        for kind, count in (("execution", len(self._executions)), ("graph_execution_traces", self._traces)):
            if count == _DEFAULT_RING:
                notes.append(("ring", 1, f"the file of {kind} holds exactly {count:,} events, the default size of "
                              "TensorFlow's circular buffer: earlier ones may have been overwritten"))  # fmt: skip
        counted = (
            ("values_skipped", self._not_kept, "full tensors that are not arrays of numbers were not kept"),
            ("slots", self._no_slot, "outputs whose slot the files do not tell (a filter dropped others)"),
            ("calls", self._no_call, "tensors belong to calls that are not in the files (failed, or lost)"),
            ("ops_lost", self._program.unknown_ops, "ops are known by name only: their creation is not in the files"),
            (
                "frames_lost",
                self._program.lost_frames,
                "stack frames are not in the files, or their source file is not",
            ),
        )
        notes += [row for row in counted if row[1]]
        started = to_ns(self._files.started)
        columns = {"time": [started] * len(notes), "kind": [n[0] for n in notes], "count": [n[1] for n in notes]}
        writer.append("notes", columns | {"text": [note[2] for note in notes]})
        return losses
