"""Divides a range of steps into as many parts as somebody can look at: rows, bad values and seconds of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.trace import Trace


@dataclass(frozen=True, slots=True)
class Part:
    """Some neighbouring steps. ``seconds`` is None where it is not told when they ended."""

    first: int
    last: int
    rows: int
    bad: int
    benign: int  # of the bad ones: those that did no harm, as far as is known
    seconds: float | None
    started: float | None  # seconds since the trace began


class Timeline:
    """The steps of one process, until the trace has grown. Steps that have no rows are not there."""

    def __init__(
        self, trace: Trace, read: SceneCache, harmless: frozenset[int] = frozenset(), harm_begins: int = -1
    ) -> None:
        """``harmless`` are ops whose bad values did no harm; nor did any before the event ``harm_begins``."""
        self._trace, self._read, self.harmless, self.harm_begins = trace, read, harmless, harm_begins
        rollup = read.moments.rollup
        order = np.argsort(rollup["step"].to_numpy(), kind="stable")
        self.steps, rows, self._bad = (rollup[name].to_numpy()[order] for name in ("step", "rows", "bad"))
        self._rows = rows - self._evidence()

    def _evidence(self) -> np.ndarray:
        """Counts for each step the inputs that were kept beside bad outputs, which are no tensors of their own."""
        steps = self._read.pages.cells("step", self._read.moments.evidence)
        places = np.searchsorted(self.steps, steps)
        return np.bincount(places, minlength=len(self.steps))[: len(self.steps)]

    @cached_property
    def _benign(self) -> np.ndarray:
        """Counts for each step the tensors whose bad values did no harm."""
        if not self.harmless and self.harm_begins < 0:
            return np.zeros(len(self.steps), np.int64)
        found = dict(
            self._read.rows.query(
                f"SELECT step, count(*) FROM tensors WHERE {self._read.rows.is_bad(self._read.process)} "
                f"AND (op IN (SELECT unnest(?::INTEGER[])) OR seq < {self.harm_begins}) GROUP BY 1",
                [sorted(self.harmless)],
            )
        )
        return np.array([found.get(step, 0) for step in self.steps.tolist()], np.int64)

    @cached_property
    def _times(self) -> np.ndarray:
        """Tells when each step began, and when the last one ended, in seconds; NaN where it is not told."""
        begun = self._trace.table("steps", ["step", "time"], self._read.process)
        known = dict(zip(begun["step"].to_pylist(), begun["time"].to_pylist(), strict=True))
        end = self._trace.processes[self._read.process].end or {}
        times = [known.get(step) for step in self.steps.tolist()] + [end.get("ended")]
        began = self._read.moments.began
        return np.array([np.nan if time is None else (time - began) / 1e9 for time in times], float)

    def parts(self, first: int | None, last: int | None, most: int) -> list[Part]:
        """Divides the steps from ``first`` to ``last`` into at most ``most`` parts of about as many steps each."""
        steps = self.steps
        begin = 0 if first is None else int(np.searchsorted(steps, first))
        end = len(steps) if last is None else int(np.searchsorted(steps, last, "right"))
        if end <= begin:
            return []
        cuts = np.unique(np.linspace(begin, end, min(most, end - begin) + 1).astype(int))
        starts, stops = cuts[:-1], cuts[1:]
        columns = (self._rows, self._bad, self._benign)
        rows, bad, benign = (np.add.reduceat(column[:end], starts) for column in columns)
        times = self._times
        return [
            Part(
                int(steps[start]),
                int(steps[stop - 1]),
                int(rows[n]),
                int(bad[n]),
                int(benign[n]),
                _known(times[stop] - times[start]),
                _known(times[start]),
            )
            for n, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True))
        ]


def _known(value: float) -> float | None:
    return None if np.isnan(value) else max(0.0, float(value))
