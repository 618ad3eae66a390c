"""Shows the runs of Sessions as moments, each with its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from functools import cached_property

import numpy as np

from tdbg.model import Flag, is_bad, is_bad_output
from tdbg.query.scene.moments import OUTSIDE, Moments, count
from tdbg.query.scene.ops import Ops
from tdbg.query.trace.program import joined
from tdbg.query.trace.session_runs import Asked, Run, SessionRuns
from tdbg.query.trace.trace import Trace
from tdbg.scene import Moment
from tdbg.store.row_pages import Pages

_MOST_NAMED = 3  # fetches in a title


class Runs(Moments):
    """The runs of Sessions. What is in no run is a moment too, of number -1. Constants belong to all runs of their
    graph."""

    kind = "run"

    def __init__(self, sessions: SessionRuns, trace: Trace, process: int, pages: Pages, ops: Callable[[], Ops]) -> None:
        super().__init__(trace, process, pages, ops)
        self._sessions = sessions

    @property
    def asked(self) -> dict[int, Asked]:
        return self._sessions.asked

    @property
    def runs(self) -> dict[int, Run]:
        return self._sessions.runs

    def numbers(self) -> Sequence[int]:
        return [moment.number for moment in self._all]

    def all(self) -> Sequence[Moment]:
        return self._all

    def moment(self, number: int) -> Moment:
        return next(moment for moment in self._all if moment.number == number)

    @cached_property
    def _all(self) -> list[Moment]:
        executions, flags = self._pages.column("execution"), self._pages.column("flags")
        is_output = (flags & int(Flag.EVIDENCE)) == 0
        bad = is_bad_output(flags)
        all_rows, bad_rows = _counts(executions[is_output]), _counts(executions[bad])
        constants, bad_constants = self._constants
        rest = int(is_output.sum()) - constants.total()
        rest_bad = int(bad.sum()) - bad_constants.total()
        found = []
        for run in self.runs.values():
            own, own_bad = _at(all_rows, run.execution), _at(bad_rows, run.execution)
            rest, rest_bad = rest - own, rest_bad - own_bad
            tensors, bad = own + constants[run.graph], own_bad + bad_constants[run.graph]
            found.append(Moment("run", run.number, self._title(run), tensors, bad, self.since(run.time)))
        if rest:
            found.insert(0, Moment("run", OUTSIDE, "outside of runs", rest, rest_bad, 0.0))
        return found

    def _title(self, run: Run) -> str:
        """Says what a run was asked for: ``run #4: 1 fetch (train/Adam); 2 feeds``"""
        asked = self.asked.get(run.graph, Asked([], [], []))
        fetched = [*asked.fetches, *asked.targets]
        feeds = _named(asked.feeds) if len(asked.feeds) == 1 else ""
        other = f" (run {run.told} of its Session)" if run.told not in (-1, run.number) else ""
        text = f"{count(len(fetched), 'fetch', 'fetches')}{_named(fetched)}; {count(len(asked.feeds), 'feed')}{feeds}"
        return f"run #{run.number}{other}: {text}" + ("; failed" if run.error else "")

    # ---- rows

    @cached_property
    def _loose(self) -> np.ndarray:
        """Positions of rows that belong to no execution: constants of graphs."""
        return np.flatnonzero(self._pages.column("execution") == -1)

    @cached_property
    def _loose_graphs(self) -> np.ndarray:
        known = self._ops()
        ops = self._pages.cells("op", self._loose).tolist()
        return np.array([int(known.graphs[known.at[op]]) if op in known.at else -1 for op in ops], np.int64)

    @cached_property
    def _constants(self) -> tuple[Counter[int], Counter[int]]:
        """Counts the constants of each graph, and how many of them are bad."""
        rows: Counter[int] = Counter()
        bad: Counter[int] = Counter()
        flags = self._pages.cells("flags", self._loose).tolist()
        for graph, flag in zip(self._loose_graphs.tolist(), flags, strict=True):
            if graph in self.asked and not flag & Flag.EVIDENCE:
                rows[graph] += 1
                bad[graph] += is_bad(flag)
        return rows, bad

    def _rows_of(self, number: int) -> np.ndarray:
        executions = self._pages.column("execution")
        run = self.runs.get(number)
        if run is not None:
            constants = self._loose[self._loose_graphs == run.graph]
            return np.concatenate([np.flatnonzero(executions == run.execution), constants])
        inside = np.isin(executions, [run.execution for run in self.runs.values()])
        inside[self._loose[np.isin(self._loose_graphs, list(self.asked))]] = True
        return np.flatnonzero(~inside)

    def _moment_of(self, step: int, execution: int) -> int:
        own = self._sessions.number_of(execution)
        # A constant belongs to no run, and counts for each of its graph: the first that has a bad one.
        return own if own is not None else next((moment.number for moment in self._all if moment.bad), OUTSIDE)


def _named(names: Sequence[str]) -> str:
    if not names:
        return ""
    more = [f"{len(names) - _MOST_NAMED} more"] if len(names) > _MOST_NAMED else []
    return f" ({joined([*names[:_MOST_NAMED], *more]) if more else ', '.join(names)})"


def _counts(numbers: np.ndarray) -> np.ndarray:
    return np.bincount(numbers[numbers >= 0])


def _at(counts: np.ndarray, number: int) -> int:
    return int(counts[number]) if number < len(counts) else 0
