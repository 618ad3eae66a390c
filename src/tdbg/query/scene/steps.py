"""Shows training steps as moments, each with its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property

import numpy as np

from tdbg.query.scene.moments import OUTSIDE, Moments
from tdbg.scene import Moment


class Steps(Moments):
    """The training steps. What comes before the first step is a moment too, of number -1."""

    @cached_property
    def _places(self) -> dict[int, int]:
        return {step: place for place, step in enumerate(self.rollup["step"].to_pylist())}

    @cached_property
    def _evidence_of(self) -> Counter[int]:
        return Counter(self._pages.cells("step", self.evidence).tolist())

    def numbers(self) -> Sequence[int]:
        return list(self._places)

    def all(self) -> Sequence[Moment]:
        return self._all

    @cached_property
    def _all(self) -> list[Moment]:
        begun = self._trace.table("steps", ["step", "time"], self._process)
        times = dict(zip(begun["step"].to_pylist(), begun["time"].to_pylist(), strict=True))
        columns = (self.rollup[name].to_pylist() for name in ("step", "rows", "bad"))
        return [self._made(step, rows, bad, times.get(step)) for step, rows, bad in zip(*columns, strict=True)]

    def moment(self, number: int) -> Moment:
        place = self._places[number]
        rows, bad = (self.rollup[name][place].as_py() for name in ("rows", "bad"))
        positions = self.positions(number)
        time = int(self._pages.cells("time", positions[:1])[0]) if len(positions) else None
        return self._made(number, rows, bad, time)

    def _made(self, step: int, rows: int, bad: int, time: int | None) -> Moment:
        title = f"step {step}" if step > OUTSIDE else "before the first step"
        return Moment("step", step, title, rows - self._evidence_of[step], bad, self.since(time))

    def _rows_of(self, number: int) -> np.ndarray:
        found = [np.empty(0, np.int64)]
        if number in self._places:
            first, last = (self.rollup[name][self._places[number]].as_py() for name in ("first_seq", "last_seq"))
            for page in self._pages.with_seq(first, last):
                here = np.flatnonzero(self._pages.part_of_column("step", page) == number)
                found.append(here + self._pages.pages[page].first)
        return np.concatenate(found)

    def _moment_of(self, step: int, execution: int) -> int:
        return step
