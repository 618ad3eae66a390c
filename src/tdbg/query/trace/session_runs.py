"""Knows the runs of Sessions of a process: their numbers, and what they were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

from tdbg.query.trace.trace import Trace


class Asked(NamedTuple):
    """What a Session was asked for."""

    fetches: list[str]
    targets: list[str]
    feeds: list[str]


class Run(NamedTuple):
    """One run of a Session. ``number`` is its own among all runs, ``told`` the one that the program gave it."""

    number: int
    told: int
    execution: int
    graph: int
    time: int
    error: str
    has_ended: bool


class SessionRuns:
    """The runs of one process."""

    def __init__(self, trace: Trace, process: int) -> None:
        self._trace, self._process = trace, process

    @cached_property
    def are_most(self) -> bool:
        """Whether runs are what the program did: one whose work is done elsewhere may still run a Session now and
        then."""
        if not self._trace.row_count("signatures") and not self._trace.row_count("runs"):
            return False
        return bool(self.runs) and 2 * len(self.runs) >= len(self._executions)

    @cached_property
    def asked(self) -> dict[int, Asked]:
        """What was asked for, by graph."""
        rows = self._trace.table("signatures", process=self._process).to_pylist()
        return {row["graph"]: Asked(row["fetches"], row["targets"], row["feeds"]) for row in rows}

    @cached_property
    def runs(self) -> dict[int, Run]:
        """All runs, by number."""
        ended = {row["execution"]: row for row in self._trace.table("runs", process=self._process).to_pylist()}
        rows = [row for row in self._executions if row["graph"] in self.asked or row["execution"] in ended]
        rows.sort(key=lambda row: row["execution"])
        told = [ended[row["execution"]]["run"] if row["execution"] in ended else -1 for row in rows]
        found = {}
        for number, said, row in zip(_numbered(told), told, rows, strict=True):
            end = ended.get(row["execution"])
            error = end["error"] if end else ""
            found[number] = Run(number, said, row["execution"], row["graph"], row["time"], error, end is not None)
        return found

    def number_of(self, execution: int) -> int | None:
        """Finds the run that an execution is; None when it is none."""
        return next((run.number for run in self.runs.values() if run.execution == execution), None)

    @cached_property
    def _executions(self) -> list[dict]:
        return self._trace.table("executions", ["execution", "graph", "time"], self._process).to_pylist()


def _numbered(told: Sequence[int]) -> Sequence[int]:
    """Numbers the runs as the program did where that tells all of them apart (a run that goes on has no number yet and
    comes last), else as they come, from 1."""
    known = [number for number in told if number >= 0]
    following = range(max(known, default=0) + 1, max(known, default=0) + 1 + len(told) - len(known))
    if not known or len(set(known)) < len(known) or list(told[len(known) :]) != [-1] * len(following):
        return range(1, len(told) + 1)
    return [*known, *following]
