"""Makes a trace the scene that commands look at: its moments, tensors, nodes and sources, one process at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.model import DType, Flag, ProfiledNode
from tdbg.query.listing.tensor_listing import positions_of
from tdbg.query.scene.cache import SceneCache, stamp
from tdbg.query.scene.moments import BLIND_MODES, those_there
from tdbg.query.scene.ops import INPUT, Named
from tdbg.query.scene.run_info import Feeds, run_info
from tdbg.query.scene.selection import Rowset, Selector, has_inf_or_nan
from tdbg.query.scene.tensors import Chosen, Everything, LateSeen, RowTensors, badness, size_of, summary_of
from tdbg.query.scene.values import Key
from tdbg.query.trace.trace import Trace
from tdbg.scene import (
    Moment,
    Node,
    RunInfo,
    Seen,
    Selection,
    SourceFile,
    SourceLine,
    TensorFilter,
    Tensors,
    computed_inside,
)

if TYPE_CHECKING:
    from tdbg.query.verdict.verdict import Verdict

_MOST_TESTED = 20_000  # tensors that a user's function is asked about


class TraceScene:
    """The scene of a trace. ``process`` is the one that is looked at: that with the first bad value, unless another is
    asked for."""

    def __init__(self, trace: Trace | str | Path, process: int | None = None) -> None:
        self._trace = trace if isinstance(trace, Trace) else Trace.open(trace)
        self.filters: dict[str, TensorFilter] = {"has_inf_or_nan": has_inf_or_nan}
        self.title = ""
        self.process = self._first_process() if process is None else process
        if not 0 <= self.process < len(self._trace.processes):
            raise TdbgError(f"there is no process {self.process}; this trace has {len(self._trace.processes)}")
        self._pages = self._trace.pages(self.process)
        self._number: int | None = None
        self._read = SceneCache(self._trace, self.process, self._pages)
        self.go(self._start())

    def _first_process(self) -> int:
        if len(self._trace.processes) == 1:
            return 0
        found = self._trace.first_bad()
        return found["process"] if found else 0

    def _start(self) -> int | None:
        moments = self._read.moments
        if moments.first_bad_seq >= 0:
            return moments.moment_of(moments.first_bad_seq)
        return max(moments.numbers(), default=None)

    # ---- moments

    @property
    def processes(self) -> list[str]:
        """What tells the processes apart, by number."""
        return [_process_title(process) for process in self._trace.processes]

    def moments(self) -> Sequence[Moment]:
        return self._read.moments.all()

    @property
    def moment(self) -> Moment | None:
        return self._read.moment(self._number)

    def go(self, number: int | None) -> None:
        numbers = self._read.moments.numbers()
        if number is not None and number not in numbers:
            kind = self._read.moments.kind
            raise TdbgError(f"there is no {kind} {number}; {those_there(numbers, kind)}")
        self._number = number
        moment = self.moment
        at = "all steps" if moment is None else moment.title.partition(":")[0]
        of = f" · process {self.process}" if len(self._trace.processes) > 1 else ""
        self.title = f"{self._trace.path.name} · {at}{of}"

    def refresh(self) -> bool:
        processes = len(self._trace.processes)
        self._trace.refresh()
        if self._read.stamp == stamp(self._trace, self.process):
            return len(self._trace.processes) > processes
        had_moments = bool(self._read.moments.numbers())
        self._pages.refresh()
        self._read = SceneCache(self._trace, self.process, self._pages)
        is_there = self._number is None or self._number in self._read.moments.numbers()
        if not had_moments or not is_there:
            self.go(self._start())
        return True

    # ---- tensors

    def tensors(self, selection: Selection) -> Tensors:
        rowset = self._rowset()
        notes = self._blind_notes(selection)
        found = self._selector.select(rowset, selection, self.filters, notes)
        order = Everything(self._pages, self._read.moments.evidence) if found is None else Chosen(found)
        if selection.node_pattern or selection.op_pattern:
            ops = self._read.ops
            inside = ops.parts_like(selection.node_pattern, selection.op_pattern)
            if inside:
                notes.append(computed_inside(inside, ops.framework_of(ops.named(next(iter(inside)))[0])))
        if len(rowset) and not len(self._read.ops):
            notes.append("the program ended before its ops were written, so their names are unknown")
        notes += [f"{name} is damaged: its rows are shown without names" for name in sorted(self._pages.damaged)]
        return RowTensors(order, self._make, len(rowset), notes, selection.reverse)

    def seen(self, tensor: str, debug_op: str = "", device: str = "") -> Sequence[Seen]:
        named = self._read.ops.find(tensor)
        found = self._rows_of(named)
        if device:
            at, devices = self._read.ops.at, self._read.ops.devices
            ops = self._pages.cells("op", found)
            found = found[[device in devices[at[int(op)]] for op in ops]] if len(found) else found
        if debug_op and debug_op != "DebugIdentity":
            raise TdbgError(f"a trace has no {debug_op} of {tensor}; for its numeric summary, type: pt -s {tensor}")
        if not len(found):
            raise TdbgError(self._why_unseen(tensor, named))
        if named.slot is None:
            self._check_one_slot(tensor, found)
        return RowTensors(Chosen(found), self._make, len(found), ())

    def event(self, seq: int) -> Seen:
        """Gives what was seen in one event, at whatever moment; TdbgError when there is no such event."""
        found = positions_of(self._pages, np.array([seq], np.int64))
        if not len(found):
            raise TdbgError(f"this trace has no event #{seq:,}")
        return self._make(found[:1].astype(np.int64))[0]

    def value(self, seen: Seen) -> Any:
        return self._read.values.read(seen)

    def tensor_names(self) -> Sequence[str]:
        return self._read.tensor_names

    # ---- nodes, sources, runs

    def node_names(self) -> Sequence[str]:
        return self._read.node_names

    def node(self, name: str) -> Node:
        return self._read.nodes.node(name, self._read.here(self._number))

    def sources(self) -> Sequence[SourceFile]:
        return self._read.sources.files(self._rowset())

    def source(self, path: str) -> Sequence[SourceLine]:
        return self._read.sources.lines(path, self._rowset())

    def run_info(self) -> RunInfo:
        return run_info(self._trace, self.process, self._read.moments, self.moment)

    def feeds(self) -> Mapping[str, Any]:
        run = self._read.moments.runs.get(self._number) if self._number is not None else None
        asked = self._read.moments.asked.get(run.graph) if run is not None else None
        return Feeds(asked.feeds if asked else [], self.seen, self.value)

    def profile(self) -> Sequence[ProfiledNode]:
        run = self._read.moments.runs.get(self._number) if self._number is not None else None
        from tdbg.query.listing.profile import read_profile

        return read_profile(self._trace, run.execution if run is not None else None)

    def trace(self) -> Trace:
        return self._trace

    def verdict(self) -> Verdict:
        """The verdict on the whole trace, as far as it was written when the scene was last refreshed."""
        return self._read.verdict

    @property
    def read(self) -> SceneCache:
        """All that is known of the process, as it was when the trace was last looked at."""
        return self._read

    # ---- parts

    @property
    def _selector(self) -> Selector:
        read = self._read
        return Selector(read.ops, lambda: read.rows, self.process, read.moments.first_bad_seq, self._tested)

    def _rowset(self) -> Rowset:
        return self._read.rowset(self._number)

    def _rows_of(self, named: Named) -> np.ndarray:
        ops = self._read.ops
        wanted = np.zeros(ops.size, bool)
        wanted[list(named.ops)] = True
        eager = [op for op in named.ops if ops.graphs[ops.at[op]] < 0]

        def is_meant(op: np.ndarray, slot: np.ndarray, flags: np.ndarray) -> np.ndarray:
            is_input = np.isin(op, eager) & ((flags & int(Flag.INPUT)) != 0)
            return (is_input == named.is_input) & ((slot == named.slot) | (named.slot is None))

        return self._rowset().of_ops(wanted, ops, is_meant)

    def _check_one_slot(self, tensor: str, found: np.ndarray) -> None:
        slots = sorted(set(self._pages.cells("slot", found).tolist()))
        if len(slots) > 1:
            names = ", ".join(f"{tensor}:{slot}" for slot in slots)
            raise TdbgError(f"node {tensor!r} has several outputs; choose one of {names}")

    def _why_unseen(self, tensor: str, named: Named) -> str:
        moment, kind = self.moment, self._read.moments.kind
        at = f" at {moment.title.partition(':')[0]}" if moment is not None else ""
        elsewhere = self._read.steps_of(named.ops, named.slot) if not named.is_input else None
        if elsewhere is not None and moment is not None:
            first, last = elsewhere
            when = f"; it was at step {first}" if first == last else f"; it was between steps {first} and {last}"
            return f"{tensor} was not seen{at}" + (when if kind == "step" else "; it was in another run")
        ops = self._read.ops
        part = next((whole for op in named.ops if (whole := ops.whole_of(op))), "")
        if part:
            framework = ops.framework_of(named.ops[0])
            return f"the value of {tensor} is not visible: {framework} computes it inside {part}; look there"
        op = self._read.program.ops[named.ops[0]]
        if named.slot is not None and self._read.steps_of(named.ops, None):
            return f"{tensor} was not recorded; other outputs of the node were"
        source = self._read.nodes.of(op.number).inputs[:1] if not op.observed else []
        hint = f"; its input is {source[0].node}:{source[0].slot}" if source else ""
        return f"{tensor} was not recorded: {op.type} ops are not, or a filter left it out{hint}"

    def _blind_notes(self, selection: Selection) -> list[str]:
        mode = self._read.mode
        if self.filters.get(selection.filter) is has_inf_or_nan and mode in BLIND_MODES:
            return [f"mode {mode} does not look for NaN and infinity; record with --mode health or numerics"]
        return []

    def _tested(self, found: np.ndarray, function: TensorFilter, name: str, notes: list[str]) -> np.ndarray:
        passing, without, untested = [], 0, 0
        values = self._read.values
        tested = 0
        for first in range(0, len(found), 4096):
            part = found[first : first + 4096]
            for position, seen in zip(part, self._make(part), strict=True):
                if values.kept(seen.key) < 0:
                    without += 1
                elif tested >= _MOST_TESTED:
                    untested += 1
                else:
                    tested += 1
                    if _ask(function, name, seen, self.value(seen)):
                        passing.append(position)
        if without:
            notes.append(f"{name} skipped {without:,} tensors whose elements were not kept (mode full keeps them all)")
        if untested:
            notes.append(f"{name} tested only the first {_MOST_TESTED:,} tensors; {untested:,} more were not tested")
        return np.array(passing, np.int64)

    def _make(self, positions: np.ndarray) -> list[Seen]:
        read = self._read
        ops, shapes, began, looked = read.ops, read.shapes, read.began(self._number), read.mode not in BLIND_MODES
        moment = self._number
        numbers = read.numbers_of(moment, positions).tolist() if moment is not None else None
        found = []
        for place, (position, row) in enumerate(
            zip(positions.tolist(), self._pages.rows(positions).to_pylist(), strict=True)
        ):
            number: Any = numbers[place] if numbers is not None else partial(read.number_of, position)
            at = ops.at.get(row["op"], -1)
            is_input = at >= 0 and bool(ops.graphs[at] < 0) and bool(row["flags"] & Flag.INPUT)
            name = ops.shown[at] if at >= 0 else "?"
            dtype = row["dtype"]
            found.append(
                (Seen if numbers is not None else LateSeen)(
                    node=name + INPUT if is_input else name,
                    slot=row["slot"],
                    op_type=ops.types[at] if at >= 0 else "?",
                    time=max(0.0, (row["time"] - began) / 1e6),
                    size=size_of(row["elements"], dtype),
                    dtype=DType(dtype).label if dtype in DType._value2member_map_ else "unknown",
                    shape=shapes.get(row["shape"]),
                    key=Key(self.process, position, row["value"], row["op"], row["slot"], row["execution"],
                            row["iteration"], row["tensor"], is_input),
                    device=ops.devices[at] if at >= 0 else "",
                    number=number,
                    step=row["step"],
                    iteration=row["iteration"],
                    seq=row["seq"],
                    numbers=summary_of(row),
                    is_bad=badness(row["flags"], dtype, looked),
                )
            )  # fmt: skip
        return found


def _ask(function: TensorFilter, name: str, seen: Seen, value: Any) -> bool:
    try:
        return bool(function(seen, value))
    except Exception as error:
        raise TdbgError(f"filter {name} failed on {seen.tensor}: {type(error).__name__}: {error}") from error


def _process_title(process: Any) -> str:
    info = process.info
    return f"rank {info.get('rank', 0)}, process {info.get('pid', '?')} on {info.get('host', '?')}"
