"""A process of a trace in; its moments (training steps, or runs of Sessions) and the rows of each out."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tdbg.model import Flag
from tdbg.query.program import joined
from tdbg.query.scene_ops import Ops
from tdbg.scene import Moment
from tdbg.store.pages import Pages
from tdbg.store.reader import Trace

OUTSIDE = -1  # the number of what is in no step and no run
_MOST_NAMED = 3  # fetches in a title


class Run(NamedTuple):
    """One run of a Session. ``number`` is its own among all runs, ``told`` the one that the program gave it."""

    number: int
    told: int
    execution: int
    graph: int
    time: int
    error: str
    has_ended: bool


class Asked(NamedTuple):
    """What a Session was asked for."""

    fetches: list[str]
    targets: list[str]
    feeds: list[str]


class Moments:
    """Of one process. Runs where Sessions ran, steps otherwise."""

    def __init__(self, trace: Trace, process: int, pages: Pages, ops: Callable[[], Ops]) -> None:
        self._trace, self._process, self._pages, self._ops = trace, process, pages, ops
        self._rollup = self._own(trace.rollup("steps"))

    def _own(self, rows: pa.Table) -> pa.Table:
        return rows.filter(pc.equal(rows["process"], self._process))

    @property
    def kind(self) -> str:
        return "run" if self.runs else "step"

    # ---- runs

    @cached_property
    def asked(self) -> dict[int, Asked]:
        """By graph."""
        rows = self._own(self._trace.table("signatures")).to_pylist()
        return {row["graph"]: Asked(row["fetches"], row["targets"], row["feeds"]) for row in rows}

    @cached_property
    def runs(self) -> dict[int, Run]:
        """By number: that of the program, where it tells all runs apart. A run that goes on has none yet."""
        ended = {row["execution"]: row for row in self._own(self._trace.table("runs")).to_pylist()}
        if not self.asked and not ended:
            return {}
        rows = self._own(self._trace.table("executions", ["execution", "graph", "time"]))
        is_run = pc.or_(
            pc.is_in(rows["graph"], pa.array(list(self.asked), pa.int32())),
            pc.is_in(rows["execution"], pa.array(list(ended), pa.int64())),
        )
        rows = rows.filter(is_run).sort_by("execution").to_pylist()
        told = [ended[row["execution"]]["run"] if row["execution"] in ended else -1 for row in rows]
        known = [number for number in told if number >= 0]
        if len(set(known)) == len(known) and (len(known) == len(told) or len(self.asked) > 0) and known:
            following = max(known)
            for place, number in enumerate(told):
                if number < 0:
                    following += 1
                    told[place] = following
            numbers: Sequence[int] = told
        else:
            numbers = range(1, len(told) + 1)
        found = {}
        for number, said, row in zip(numbers, told, rows, strict=True):
            end = ended.get(row["execution"])
            error = end["error"] if end else ""
            found[number] = Run(number, said, row["execution"], row["graph"], row["time"], error, end is not None)
        return found

    def describe(self, run: Run) -> str:
        """``run #4: 1 fetch (train/Adam); 2 feeds``"""
        asked = self.asked.get(run.graph, Asked([], [], []))
        fetched = [*asked.fetches, *asked.targets]
        parts = [f"{count(len(fetched), 'fetch', 'fetches')}{_named(fetched)}"]
        parts.append(f"{count(len(asked.feeds), 'feed')}{_named(asked.feeds) if len(asked.feeds) == 1 else ''}")
        other = f" (run {run.told} of its Session)" if run.told not in (-1, run.number) else ""
        return f"run #{run.number}{other}: {'; '.join(parts)}" + ("; failed" if run.error else "")

    # ---- all

    @cached_property
    def evidence(self) -> np.ndarray:
        """Positions of inputs that were kept beside a bad output; they are no tensors of their own."""
        found = [np.empty(0, np.int64)]
        for number, page in enumerate(self._pages.pages):
            if page.flags >= int(Flag.EVIDENCE):
                flags = self._pages.part_of_column("flags", number)
                found.append(page.first + np.flatnonzero(flags & int(Flag.EVIDENCE)))
        return np.concatenate(found)

    @cached_property
    def moments(self) -> list[Moment]:
        return self._run_moments() if self.runs else self._step_moments()

    @cached_property
    def began(self) -> int:
        return min((int(process.info.get("started") or 0) for process in self._trace.processes), default=0)

    def _step_moments(self) -> list[Moment]:
        begun = self._own(self._trace.table("steps"))
        times = dict(zip(begun["step"].to_pylist(), begun["time"].to_pylist(), strict=True))
        evidence: dict[int, int] = {}
        for step in self._pages.rows(self.evidence)["step"].to_pylist():
            evidence[step] = evidence.get(step, 0) + 1
        columns = (self._rollup[name].to_pylist() for name in ("step", "rows", "bad"))
        found = []
        for step, rows, bad in zip(*columns, strict=True):
            title = f"step {step}" if step >= 0 else "before the first step"
            found.append(Moment("step", step, title, rows - evidence.get(step, 0), bad, self._since(times.get(step))))
        return found

    def _since(self, time: int | None) -> float:
        return max(0.0, (time - self.began) / 1e9) if time and self.began else 0.0

    def _run_moments(self) -> list[Moment]:
        """Constants, which belong to no run, count for each run of their graph."""
        executions, flags = self._pages.column("execution"), self._pages.column("flags")
        is_output = (flags & int(Flag.EVIDENCE)) == 0
        is_bad = is_output & ((flags & int(Flag.BAD)) != 0)
        all_rows, bad_rows = _counts(executions[is_output]), _counts(executions[is_bad])
        constants, bad_constants = self._constants_by_graph
        found = []
        rest = int(is_output.sum()) - sum(constants.values())
        rest_bad = int(is_bad.sum()) - sum(bad_constants.values())
        for run in self.runs.values():
            own, own_bad = _at(all_rows, run.execution), _at(bad_rows, run.execution)
            rest, rest_bad = rest - own, rest_bad - own_bad
            tensors, bad = own + constants.get(run.graph, 0), own_bad + bad_constants.get(run.graph, 0)
            found.append(Moment("run", run.number, self.describe(run), tensors, bad, self._since(run.time)))
        if rest:
            found.insert(0, Moment("run", OUTSIDE, "outside of runs", rest, rest_bad, 0.0))
        return found

    @cached_property
    def _loose(self) -> np.ndarray:
        """Positions of rows that belong to no execution: constants of graphs."""
        return np.flatnonzero(self._pages.column("execution") == -1)

    @cached_property
    def _loose_graphs(self) -> np.ndarray:
        ops = self._pages.rows(self._loose)["op"].to_pylist()
        known = self._ops()
        at, graphs = known.at, known.graphs
        return np.array([int(graphs[at[op]]) if op in at else -1 for op in ops], np.int64)

    @cached_property
    def _constants_by_graph(self) -> tuple[dict[int, int], dict[int, int]]:
        flags = self._pages.rows(self._loose)["flags"].to_numpy()
        rows: dict[int, int] = {}
        bad: dict[int, int] = {}
        for graph, flag in zip(self._loose_graphs.tolist(), flags.tolist(), strict=True):
            if graph in self.asked and not flag & Flag.EVIDENCE:
                rows[graph] = rows.get(graph, 0) + 1
                bad[graph] = bad.get(graph, 0) + bool(flag & Flag.BAD)
        return rows, bad

    def positions(self, number: int) -> np.ndarray:
        """The rows of a moment in the order of events, without evidence."""
        found = self._of_runs(number) if self.runs else self._of_step(number)
        rows = self._pages.rows(found)
        is_output = (rows["flags"].to_numpy() & int(Flag.EVIDENCE)) == 0
        return found[is_output][np.argsort(rows["seq"].to_numpy()[is_output], kind="stable")]

    def _of_step(self, step: int) -> np.ndarray:
        row = self._rollup.filter(pc.equal(self._rollup["step"], step)).to_pylist()
        found = [np.empty(0, np.int64)]
        for bounds in row:
            for page in self._pages.with_seq(bounds["first_seq"], bounds["last_seq"]):
                here = np.flatnonzero(self._pages.part_of_column("step", page) == step)
                found.append(here + self._pages.pages[page].first)
        return np.concatenate(found)

    def _of_runs(self, number: int) -> np.ndarray:
        executions = self._pages.column("execution")
        if number in self.runs:
            run = self.runs[number]
            constants = self._loose[self._loose_graphs == run.graph]
            return np.concatenate([np.flatnonzero(executions == run.execution), constants])
        inside = np.isin(executions, [run.execution for run in self.runs.values()])
        inside[self._loose[np.isin(self._loose_graphs, list(self.asked))]] = True
        return np.flatnonzero(~inside)

    def moment_of(self, seq: int) -> int | None:
        """The number of the moment in which an event was."""
        for page in self._pages.with_seq(seq, seq):
            rows = self._pages.read(page)
            here = rows.filter(pc.equal(rows["seq"], seq)).to_pylist()
            if here:
                if not self.runs:
                    return here[0]["step"]
                of = here[0]["execution"]
                return next((run.number for run in self.runs.values() if run.execution == of), OUTSIDE)
        return None

    @property
    def first_bad_seq(self) -> int:
        """-1: there is none."""
        seqs = self._rollup["first_bad_seq"].to_numpy()
        return int(min(seqs[seqs >= 0], default=-1))


def count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def _named(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return f" ({joined([*names[:_MOST_NAMED], *more]) if more else ', '.join(names)})"


def _counts(numbers: np.ndarray) -> np.ndarray:
    return np.bincount(numbers[numbers >= 0])


def _at(counts: np.ndarray, number: int) -> int:
    return int(counts[number]) if number < len(counts) else 0
