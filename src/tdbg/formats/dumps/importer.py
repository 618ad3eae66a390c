"""Makes a trace of a dump root of tfdbg (one run, or many).

Each file holds one tensor and is read by itself, in the order of time; of a run no more than the names of its files is
held in memory. What the op of a bad tensor was given is read again and kept beside it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from tdbg.errors import TdbgError
from tdbg.formats.debug_events.rows import Shapes
from tdbg.formats.dumps.events import DumpedTensor, read_tensor
from tdbg.formats.dumps.folder import TensorFile, runs_in
from tdbg.formats.dumps.loop_rounds import Dump, find_rounds
from tdbg.formats.dumps.runs import UNREADABLE, Damage, Run, RunFolder
from tdbg.formats.dumps.runtime_graph import HAND_ON, RuntimeGraph
from tdbg.formats.dumps.shared_graphs import GraphOfRun, Program
from tdbg.formats.dumps.tensor_rows import READERS, Numbers, numbers_of
from tdbg.model import Flag
from tdbg.store.place import whole_or_not_at_all
from tdbg.store.writer import TraceWriter

Progress = Callable[[float], None]

_BATCH = 4096  # rows
_MOST_EVIDENCE = 8  # bad outputs of one op whose inputs are kept
_NO_LINES = (
    "dump folders hold no stack traces and no sources, so ops are known by their names and not by the lines that made "
    "them; record with tdbg run to have the lines"
)


class Lines(Protocol):
    """Where the program that is still running made its ops."""

    def stack_of(self, node: str) -> int: ...

    def rows(self) -> Iterator[tuple[str, dict[str, list]]]: ...


@dataclass
class Imported:
    """What came of an import."""

    runs: int = 0
    tensors: int = 0
    graphs: int = 0
    losses: int = 0


def import_dumps(
    folder: Path,
    output: Path,
    progress: Progress = lambda share: None,
    keep_values: bool = False,
    lines: Lines | None = None,
) -> Imported:
    """Writes a new trace at ``output``, which must not exist; whole or not at all. TdbgError when it cannot be."""
    try:
        runs = runs_in(os.fspath(folder))
    except OSError as error:
        raise TdbgError(f"the dumps cannot be read: {error.strerror or error}: {folder}") from error
    with whole_or_not_at_all(output) as part:
        return _Import(runs, progress, keep_values, lines).write(part)


@dataclass
class _Execution:
    """One run on its way into the trace."""

    number: int
    step: int
    run: Run
    graph: RuntimeGraph
    folder: RunFolder
    dumps: list[Dump] = field(default_factory=list)
    by_output: dict[tuple[int, int], list[Dump]] = field(default_factory=lambda: defaultdict(list))


class _Import:
    def __init__(self, folders: list[str], progress: Progress, keep_values: bool, lines: Lines | None) -> None:
        self._folders, self._progress, self._keep_values, self._lines = folders, progress, keep_values, lines
        self._damage = Damage()
        self._shapes = Shapes()
        self._program = Program()
        self._graphs: dict[str, GraphOfRun] = {}  # by folder
        self._rows: dict[str, list] = defaultdict(list)
        self._evidence: dict[int, int] = defaultdict(int)  # by op
        self._seq = 0
        self._step = self._told_step = -1
        self._ended = 0
        self._counts: dict[str, int] = defaultdict(int)

    def write(self, trace: Path) -> Imported:
        began = self._read_graphs()
        if began is None:
            raise TdbgError("no run in these dumps can be read")
        self._writer = writer = TraceWriter(trace, self._about(began))
        done = Imported()
        try:
            for n, path in enumerate(self._graphs):
                folder = self._folder(path)
                if folder is None:
                    continue
                self._counts["strangers"] += len(folder.files.strangers)
                for run in folder.runs():
                    self._write_run(self._execution(done.runs, folder, run))
                    done.runs += 1
                self._progress((n + 1) / len(self._graphs))
            self._write_program()
            self._write_notes()
            writer.close({"how": "", "status": None, "events": self._seq, "ended": self._ended * 1000})
        except BaseException:
            writer.discard_buffered()
            raise
        done.losses = self._damage.count
        done.tensors, done.graphs = writer.rows["tensors"], len(self._program.graphs)
        return done

    def _read_graphs(self) -> int | None:
        """All graphs, before the first tensor; when the first run began."""
        began = None
        for path in self._folders:
            folder = self._folder(path)
            if folder is None:
                continue
            first = folder.runs()[0]
            began = first.began if began is None else began
            self._graphs[path] = self._program.graph_of(folder, first)
        return began

    def _folder(self, path: str) -> RunFolder | None:
        try:
            return RunFolder(path, self._damage)
        except OSError:  # it may be removed while others are read
            self._damage.add(path)
            return None

    def _about(self, began: int) -> dict[str, Any]:
        watched, makers = self._program.watched
        return {
            "pid": 0,
            "host": "unknown",
            "started": began * 1000,
            "rank": 0,
            "argv": [],
            "mode": "full" if self._keep_values else "numerics",
            "versions": {},
            "filters": {"watched": f"{watched:,} of {makers:,} ops"} if watched < makers else {},
            "steps": [0, None, 1],
            "imported": {"format": "tfdbg1", "runs": len(self._folders)},
        }

    # ---- one run

    def _execution(self, number: int, folder: RunFolder, run: Run) -> _Execution:
        found = self._graphs[folder.files.root]
        graph = found.graph
        if run.global_step >= 0:
            self._step = run.global_step
        elif graph.trains:
            self._step += 1
        execution = _Execution(number, max(self._step, 0), run, graph, folder)
        for device, files in run.tensors.items():
            for file in self._wanted(files):
                op = self._program.op_of(found, device, file.node)
                dump = Dump(op, file)
                execution.dumps.append(dump)
                execution.by_output[op.number, file.name.slot].append(dump)
                op.has_rows = True
        find_rounds(graph, execution.by_output)
        execution.dumps.sort(key=lambda dump: (dump.file.name.order, dump.op.number))
        return execution

    def _wanted(self, files: list[TensorFile]) -> Iterator[TensorFile]:
        """Of each tensor the dumps of one debug op: that which tells most."""
        best: dict[tuple[str, int], int] = {}
        ranks = {name: rank for rank, name in enumerate(READERS)}
        for file in files:
            rank = ranks.get(file.name.debug_op, len(ranks))
            place = (file.node, file.name.slot)
            best[place] = min(rank, best.get(place, rank))
        for file in files:
            rank = ranks.get(file.name.debug_op, len(ranks))
            if rank < len(ranks) and rank == best[file.node, file.name.slot]:
                yield file
            else:
                self._counts["debug_ops"] += 1

    def _write_run(self, execution: _Execution) -> None:
        run, first_seq = execution.run, self._seq
        self._seq += 1
        last = run.began
        for dump in execution.dumps:
            last = max(last, dump.file.name.timestamp)
            self._add_tensor(execution, dump)
            if len(self._rows["seq"]) >= _BATCH:
                self._flush_rows()
        self._ended = max(self._ended, last)
        time = (run.began or last) * 1000
        graph = execution.graph
        site, handles = self._program.site_of(graph), self._program.handles_of(graph)
        self._append("executions", execution=execution.number, seq=first_seq, time=time, step=execution.step, thread=-1,
                     op=site, graph=graph.number, inputs=handles)  # fmt: skip
        self._append("ends", execution=execution.number, time=last * 1000, failed=False, outputs=[])
        self._append("runs", execution=execution.number, run=run.number, global_step=run.global_step, error="")
        if execution.step != self._told_step:
            self._told_step = execution.step
            self._append("steps", step=execution.step, seq=first_seq, time=time, source="session")
        self._flush_rows()

    def _append(self, table: str, **row: Any) -> None:
        self._writer.append(table, {name: [value] for name, value in row.items()})

    def _flush_rows(self) -> None:
        if self._rows["seq"]:
            self._writer.append("tensors", dict(self._rows))
            self._rows = defaultdict(list)
        self._writer.flush()
        self._writer.seal_if_large()

    # ---- one tensor

    def _add_tensor(self, execution: _Execution, dump: Dump) -> None:
        dumped = self._read(execution, dump)
        if dumped is None:
            return
        numbers = numbers_of(dumped, dump.file.name.debug_op, self._shapes)
        if not dumped.is_initialized:
            self._counts["uninitialized"] += 1
        dump.op.dtypes.setdefault(dump.file.name.slot, numbers.dtype)
        flags = Flag.INPUT if dump.op.is_feed else 0
        evidence: list[tuple[DumpedTensor, Numbers]] = []
        can_make = not dump.op.is_feed and dump.op.type not in HAND_ON
        if numbers.is_bad and can_make and self._evidence[dump.op.number] < _MOST_EVIDENCE:
            evidence = self._inputs_of(execution, dump)
            if evidence:
                flags |= Flag.ORIGIN
        keep = self._keep_values or numbers.is_bad
        self._add_row(execution, dump, dump.file.name.slot, numbers, dumped, flags, keep)
        self._evidence[dump.op.number] += bool(evidence)
        for index, (given, measured) in enumerate(evidence):
            self._add_row(execution, dump, index, measured, given, Flag.EVIDENCE, True)

    def _read(self, execution: _Execution, dump: Dump) -> DumpedTensor | None:
        path = execution.folder.path(dump.file.path)
        try:
            return read_tensor(path)
        except UNREADABLE:
            self._damage.add(path)
            return None

    def _inputs_of(self, execution: _Execution, dump: Dump) -> list[tuple[DumpedTensor, Numbers]]:
        """What the op of a bad tensor was given, when all of that was dumped whole and is good; else nothing."""
        found = []
        for place in dump.op.inputs:
            given = _seen_by(dump, execution.by_output.get(place, []))
            tensor = self._read(execution, given) if given is not None else None
            if tensor is None or given is None:
                return []
            numbers = numbers_of(tensor, given.file.name.debug_op, self._shapes)
            if numbers.is_bad or not numbers.is_whole or not numbers.flags & Flag.NUMBERS:
                return []
            found.append((tensor, numbers))
        return found

    def _add_row(
        self,
        execution: _Execution,
        dump: Dump,
        slot: int,
        numbers: Numbers,
        dumped: DumpedTensor,
        flags: int,
        keep: bool,
    ) -> None:
        tensor, value = dumped.tensor, -1
        if keep and numbers.is_whole and tensor.data is not None:
            value = self._writer.put_value(tensor.data, int(tensor.dtype), tensor.dims)
        elif self._keep_values and numbers.is_whole:
            self._counts["not_kept"] += 1
        row = numbers.columns() | {
            "seq": self._seq,
            "time": dump.file.name.timestamp * 1000,
            "step": execution.step,
            "thread": -1,
            "execution": execution.number,
            "op": dump.op.number,
            "slot": slot,
            "iteration": dump.iteration,
            "flags": numbers.flags | flags,
            "tensor": -1,
            "value": value,
        }
        self._seq += 1
        for name, cell in row.items():
            self._rows[name].append(cell)

    # ---- what the rows refer to

    def _write_program(self) -> None:
        for table, rows in self._program.rows(self._lines.stack_of if self._lines else None):
            self._writer.append(table, rows)
        for table, rows in self._lines.rows() if self._lines else ():
            self._writer.append(table, rows)
        self._writer.append("shapes", self._shapes.rows())
        self._writer.flush()

    def _write_notes(self) -> None:
        damaged = f"dump files are truncated or damaged and were passed over; the first is {self._damage.first}"
        counts, unknown = self._counts, self._program.unknown_ops
        notes = (
            ("sources", int(self._lines is None), _NO_LINES),
            ("damaged", self._damage.count, damaged),
            ("uninitialized", counts["uninitialized"], "variables were dumped before they were initialized"),
            ("values_skipped", counts["not_kept"], "tensors that are not arrays of numbers were not kept"),
            ("strangers", counts["strangers"], "files in the folders are not dumps and were skipped"),
            ("debug_ops", counts["debug_ops"], "dumps tell less than another one of the same tensor"),
            ("ops_lost", unknown, "ops are known by name only: no partition graph that can be read has them"),
        )  # fmt: skip
        kept = [note for note in notes if note[1]]
        columns: dict[str, list] = {"time": [self._ended * 1000] * len(kept), "kind": [note[0] for note in kept]}
        columns |= {"count": [note[1] for note in kept], "text": [note[2] for note in kept]}
        self._writer.append("notes", columns)


def _seen_by(reader: Dump, dumps: list[Dump]) -> Dump | None:
    """Which dump of an input the reader saw: of its own round, else the last one before it."""
    same = [dump for dump in dumps if dump.iteration == reader.iteration]
    before = [dump for dump in dumps if dump.file.name.order <= reader.file.name.order]
    likely = same or before or dumps
    return likely[-1] if likely else None
