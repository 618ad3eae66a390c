"""Lists the eager ops and calls of functions of a process, by page and with what was bad in them."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tdbg.errors import TdbgError
from tdbg.query.scene.cache import SceneCache


class Which(NamedTuple):
    """Which executions; None: all. ``run`` is one of a Session's."""

    step: int | None = None
    run: int | None = None
    only_bad: bool = False


class Executions:
    """A list that holds until the trace has grown. Of ten million executions it keeps their events, 8 bytes each."""

    def __init__(self, read: SceneCache, harmless: frozenset[int] = frozenset(), harm_begins: int = -1) -> None:
        """``harmless``: ops whose bad values did no harm; nor did any before the event ``harm_begins``."""
        self._read, self._rows, self._process = read, read.rows, read.process
        self.harmless, self.harm_begins = harmless, harm_begins
        self._found: dict[Which, np.ndarray] = {}

    @cached_property
    def bad(self) -> dict[int, tuple[int, int]]:
        """How many tensors with bad values each execution has that has any: all, and those that did no harm."""
        found = self._rows.bad_executions(self._process, self.harmless, self.harm_begins)
        return {execution: (bad, benign) for execution, bad, benign in found}

    @cached_property
    def _titles(self) -> dict[int, str]:
        """What the runs of Sessions were asked for, by execution."""
        moments = self._read.moments
        runs = moments.runs
        return {runs[one.number].execution: one.title for one in moments.all() if one.number in runs} if runs else {}

    def page(self, which: Which, first: int, count: int) -> tuple[int, list[dict[str, Any]]]:
        """Tells how many there are, and describes some of them in the order of events."""
        seqs = self._seqs(which)
        wanted = seqs[first : first + count]
        if not len(wanted):
            return len(seqs), []
        rows = self._rows.query(
            "SELECT execution, seq, time, step, op, graph FROM executions "
            f"WHERE process = {self._process} AND seq BETWEEN {int(wanted[0])} AND {int(wanted[-1])} ORDER BY seq"
        )
        chosen = set(wanted.tolist())
        return len(seqs), [self.record(*row) for row in rows if row[1] in chosen]

    def place_of(self, which: Which, execution: int) -> int | None:
        """Tells where an execution stands among those that are meant."""
        seqs = self._seqs(which)
        found = self._rows.query(
            f"SELECT seq FROM executions WHERE process = {self._process} AND execution = ?", [execution]
        )
        if not found:
            return None
        place = int(np.searchsorted(seqs, found[0][0]))
        return place if place < len(seqs) and seqs[place] == found[0][0] else None

    def find(self, execution: int) -> tuple[dict[str, Any], list[int], list[int], int | None]:
        """Describes one, with the numbers of the eager tensors that went in and that came out, and when it ended
        (ns)."""
        rows = self._rows.query(
            "SELECT execution, seq, time, step, op, graph, inputs FROM executions "
            f"WHERE process = {self._process} AND execution = ?",
            [execution],
        )
        if not rows:
            raise TdbgError(f"there is no execution {execution} in this process")
        *row, inputs = rows[0]
        ends = self._rows.query(
            f"SELECT time, outputs FROM ends WHERE process = {self._process} AND execution = ?", [execution]
        )
        ended, outputs = ends[0] if ends else (None, [])
        return self.record(*row), list(inputs), list(outputs), ended

    def record(self, execution: int, seq: int, time: int, step: int, number: int, graph: int) -> dict[str, Any]:
        program = self._read.program
        op = program.ops.get(number)
        frame = program.user_frame(op) if op else None
        return {
            "execution": execution,
            "seq": seq,
            "step": step,
            "time": (time - self._read.moments.began) / 1e6,
            "label": self._titles.get(execution) or (op.label if op else "?"),
            "kind": "function" if graph >= 0 else "op",
            "graph": graph,
            "op": number,
            "bad": self.bad.get(execution, (0, 0))[0],
            "benign": self.bad.get(execution, (0, 0))[1],
            "file": frame.file if frame else None,
            "line": frame.line if frame else None,
        }

    def _seqs(self, which: Which) -> np.ndarray:
        if which not in self._found:
            if len(self._found) > 3:
                self._found.pop(next(iter(self._found)))
            self._found[which] = self._ask(which)
        return self._found[which]

    def _ask(self, which: Which) -> np.ndarray:
        conditions, parameters = [f"process = {self._process}"], []
        if which.run is not None:
            runs = self._read.moments.runs
            if which.run not in runs:
                raise TdbgError(f"there is no run {which.run} in this trace")
            conditions.append(f"execution = {runs[which.run].execution}")
        if which.step is not None:
            conditions.append(f"step = {int(which.step)}")
        if which.only_bad:
            conditions.append("execution IN (SELECT unnest(?::BIGINT[]))")
            parameters.append([execution for execution, (bad, benign) in self.bad.items() if bad > benign])
        sql = f"SELECT seq FROM executions WHERE {' AND '.join(conditions)} ORDER BY seq"
        return self._rows.numbers(sql, parameters)
