"""Defines what the moments of a trace have in common, whether they are training steps or runs of Sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property

import numpy as np

from tdbg.model import Flag
from tdbg.query.scene.ops import Ops
from tdbg.query.trace.evidence import evidence_of
from tdbg.query.trace.session_runs import Asked, Run
from tdbg.query.trace.trace import Trace
from tdbg.scene import Moment
from tdbg.store.row_pages import Pages

BLIND_MODES = ("none", "shape")  # in which nobody looks for bad values
_MOST_NAMED = 8
OUTSIDE = -1  # the number of what is in no step and no run


class Moments:
    """The moments of one process. ``asked`` (by graph) and ``runs`` (by number) are empty where no Session ran."""

    kind = "step"

    def __init__(self, trace: Trace, process: int, pages: Pages, ops: Callable[[], Ops]) -> None:
        self._trace, self._process, self._pages, self._ops = trace, process, pages, ops
        self.rollup = trace.rollup("steps", process)

    # ---- what each kind tells

    @property
    def runs(self) -> Mapping[int, Run]:
        return {}

    @property
    def asked(self) -> Mapping[int, Asked]:
        return {}

    def numbers(self) -> Sequence[int]:
        """The numbers of all moments, in order."""
        raise NotImplementedError

    def all(self) -> Sequence[Moment]:
        raise NotImplementedError

    def moment(self, number: int) -> Moment:
        """Gives one of them, quicker than ``all`` does."""
        raise NotImplementedError

    def _rows_of(self, number: int) -> np.ndarray:
        raise NotImplementedError

    def _moment_of(self, step: int, execution: int) -> int:
        raise NotImplementedError

    # ---- what is the same

    @property
    def first_bad_seq(self) -> int:
        """The event of the first bad value; -1 when there is none."""
        seqs = self.rollup["first_bad_seq"].to_numpy()
        return int(min(seqs[seqs >= 0], default=-1))

    @property
    def rows(self) -> int:
        return len(self._pages) - len(self.evidence)

    @property
    def bad(self) -> int:
        return int(self.rollup["bad"].to_numpy().sum())

    @cached_property
    def evidence(self) -> np.ndarray:
        return evidence_of(self._pages)

    def positions(self, number: int) -> np.ndarray:
        """Finds the rows of a moment in the order of events, without evidence."""
        found = self._rows_of(number)
        is_output = (self._pages.cells("flags", found) & int(Flag.EVIDENCE)) == 0
        found = found[is_output]
        return found[np.argsort(self._pages.cells("seq", found), kind="stable")]

    def moment_of(self, seq: int) -> int | None:
        """Finds the number of the moment in which an event was."""
        for page in self._pages.with_seq(seq, seq):
            here = np.flatnonzero(self._pages.part_of_column("seq", page) == seq)
            if len(here):
                step, execution = (self._pages.part_of_column(name, page)[here[0]] for name in ("step", "execution"))
                return self._moment_of(int(step), int(execution))
        return None

    def since(self, time: int | None) -> float:
        """Turns a time into seconds since the trace began."""
        return max(0.0, (time - self.began) / 1e9) if time and self.began else 0.0

    @cached_property
    def began(self) -> int:
        """When the trace began, in ns since the epoch."""
        return min((int(process.info.get("started") or 0) for process in self._trace.processes), default=0)


def those_there(numbers: Sequence[int], kind: str) -> str:
    """Says which moments there are, ``this trace has runs 9, 11 and 13``: all of them, or where they lie when they are
    many."""
    if not numbers:
        return f"this trace has no {kind}s"
    if len(numbers) == 1:
        return f"this trace has only {kind} {numbers[0]}"
    if max(numbers) - min(numbers) + 1 == len(numbers):
        return f"this trace has {kind}s {min(numbers)} to {max(numbers)}"
    if len(numbers) > _MOST_NAMED:
        return f"this trace has {len(numbers):,} {kind}s between {min(numbers)} and {max(numbers)}"
    *others, last = map(str, numbers)
    return f"this trace has {kind}s {', '.join(others)} and {last}"


def count(number: int, noun: str, plural: str = "") -> str:
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
