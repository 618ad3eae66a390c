"""Keeps all that a scene knows of a process until the trace has grown; everything is read when first asked for."""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from tdbg.query.flow.eager_edges import EagerEdges
from tdbg.query.flow.neighbours import Neighbours
from tdbg.query.scene.moments import Moments
from tdbg.query.scene.nodes import NOWHERE, Here, Nodes
from tdbg.query.scene.numbers import Names, NumbersOfAll, NumbersOfSome
from tdbg.query.scene.ops import INPUT, Ops
from tdbg.query.scene.runs import Runs
from tdbg.query.scene.selection import Rowset
from tdbg.query.scene.sources import Outputs, SourceFiles
from tdbg.query.scene.steps import Steps
from tdbg.query.scene.texts import Texts
from tdbg.query.scene.values import Values
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.session_runs import SessionRuns
from tdbg.query.trace.trace import Trace
from tdbg.scene import Moment
from tdbg.store.pages import Pages

if TYPE_CHECKING:
    from tdbg.query.verdict.verdict import Verdict


class SceneCache:
    """All that a scene keeps. The rows are read before it is made, and all that they refer to is on disk before
    them."""

    def __init__(self, trace: Trace, process: int, pages: Pages) -> None:
        self.trace, self.process, self.pages = trace, process, pages
        self.stamp = stamp(trace, process)
        self._rowset: tuple[int | None, Rowset] | None = None
        self._moment: Moment | None = None
        self._here: tuple[int, Here] | None = None
        self._numbers: tuple[int | None, NumbersOfAll | NumbersOfSome] | None = None

    @cached_property
    def moments(self) -> Moments:
        parts = (self.trace, self.process, self.pages, lambda: self.ops)
        sessions = SessionRuns(self.trace, self.process)
        if sessions.are_most:
            return Runs(sessions, *parts)
        return Steps(*parts)

    @cached_property
    def mode(self) -> str:
        return str(self.trace.processes[self.process].info.get("mode", ""))

    @cached_property
    def verdict(self) -> Verdict:
        from tdbg.query.verdict.verdict import explain  # with all rules and causes, which a listing does not need

        return explain(self.trace)

    @cached_property
    def ops(self) -> Ops:
        return Ops(self.trace, self.process)

    @cached_property
    def program(self) -> Program:
        return Program(self.trace, self.process)

    @cached_property
    def texts(self) -> Texts:
        return Texts(self.program)

    @cached_property
    def neighbours(self) -> Neighbours:
        return Neighbours(self.program, EagerEdges(self.trace, self.process, self.pages, self.ops))

    @cached_property
    def nodes(self) -> Nodes:
        return Nodes(self.program, self.ops, self.texts, self.neighbours)

    @cached_property
    def sources(self) -> SourceFiles:
        return SourceFiles(self.program, self.ops, self.texts, lambda: self.outputs)

    @cached_property
    def values(self) -> Values:
        return Values(self.trace, self.process, self.pages, self.program, self.moments.evidence)

    @cached_property
    def rows(self) -> Rows:
        return Rows(self.trace)

    @property
    def shapes(self) -> dict[int, tuple[int, ...]]:
        return self.program.shapes

    @cached_property
    def rollup(self) -> pa.Table:
        """The rollup of the rows of each output of an op."""
        return self.trace.rollup("ops", self.process)

    @cached_property
    def node_names(self) -> list[str]:
        return sorted(set(self.ops.shown))

    @cached_property
    def outputs(self) -> Outputs:
        """How many rows each output has in the whole trace, and how many of them are bad."""
        rollup = self.rollup
        evidence = Counter(
            zip(*(self.pages.cells(name, self.moments.evidence).tolist() for name in ("op", "slot")), strict=False)
        )
        found = {}
        for op, slot, rows, bad in zip(*(rollup[n].to_pylist() for n in ("op", "slot", "rows", "bad")), strict=True):
            if rows > evidence[op, slot]:
                found[op, slot] = rows - evidence[op, slot], bad
        return found

    @cached_property
    def tensor_names(self) -> list[str]:
        """The names of all tensors that have rows, at whatever moment."""
        dtypes = self.trace.table("ops", ["op", "output_dtypes"], self.process)
        made = dict(zip(dtypes["op"].to_pylist(), map(len, dtypes["output_dtypes"].to_pylist()), strict=True))
        ops, found = self.ops, set()
        for op, slot in self.outputs:
            at = ops.at.get(op)
            if at is not None:
                is_input = ops.graphs[at] < 0 and slot >= made[op]
                found.add(f"{ops.shown[at]}{INPUT if is_input else ''}:{slot}")
        return sorted(found)

    def steps_of(self, ops: Sequence[int], slot: int | None) -> tuple[int, int] | None:
        """Finds the first and the last step in which an output was seen; None: never."""
        rollup = self.rollup
        found = np.isin(rollup["op"].to_numpy(), ops)
        if slot is not None:
            found &= rollup["slot"].to_numpy() == slot
        if not found.any():
            return None
        return int(rollup["first_step"].to_numpy()[found].min()), int(rollup["last_step"].to_numpy()[found].max())

    # ---- the moment that is looked at

    def moment(self, number: int | None) -> Moment | None:
        if number is None:
            return None
        if self._moment is None or self._moment.number != number:
            self._moment = self.moments.moment(number)
        return self._moment

    def rowset(self, number: int | None) -> Rowset:
        if self._rowset is None or self._rowset[0] != number:
            positions = None if number is None else self.moments.positions(number)
            self._rowset = number, Rowset(self.pages, positions, self.moments.evidence)
        return self._rowset[1]

    def here(self, number: int | None) -> Here:
        """Tells what was seen at the moment; nothing in particular of the whole trace."""
        if number is None:
            return NOWHERE
        if self._here is None or self._here[0] != number:
            ops = set(np.unique(self.pages.cells("op", self.rowset(number).all)).tolist())
            run = self.moments.runs.get(number)
            graphs = {int(self.ops.graphs[self.ops.at[op]]) for op in ops if op in self.ops.at}
            self._here = number, Here(ops, {run.graph} if run is not None else graphs)
        return self._here[1]

    def began(self, number: int | None) -> int:
        """Tells when the first tensor of the moment was seen, in ns."""
        rowset = self.rowset(number)
        if not len(rowset):
            return 0
        run = self.moments.runs.get(number) if number is not None else None
        if run is not None:  # its constants may be older
            return run.time
        first = rowset.given[:1] if rowset.given is not None else np.zeros(1, np.int64)
        return int(self.pages.cells("time", first)[0])

    def numbers_of(self, number: int | None, positions: np.ndarray) -> np.ndarray:
        """Counts how often a tensor of the same name was seen before at the moment."""
        if self._numbers is None or self._numbers[0] != number:
            given = self.rowset(number).given
            if given is None:
                self._numbers = number, NumbersOfAll(self.pages, self._names)
            else:
                self._numbers = number, NumbersOfSome(self.pages, self._names, given)
        return self._numbers[1].of(positions)

    def number_of(self, position: int) -> int:
        """Does the same for one row of the whole trace."""
        return int(self.numbers_of(None, np.array([position]))[0])

    @cached_property
    def _names(self) -> Names:
        return Names(self.ops)


def stamp(trace: Trace, process: int) -> dict[str, int]:
    """Gives something that changes when the process has written more."""
    folder = trace.processes[process].folder
    with os.scandir(folder) as entries:
        found = [entry for entry in entries if entry.name.endswith((".arrows", ".parquet", ".json", ".ring"))]
        sizes = {}
        for entry in found:
            with contextlib.suppress(OSError):  # it may be sealed and removed meanwhile
                sizes[entry.name] = entry.stat().st_size
        return sizes
