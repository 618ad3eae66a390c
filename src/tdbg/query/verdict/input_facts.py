"""Describes one input of the op where trouble began: its numbers, and where it came from."""

from __future__ import annotations

from dataclasses import dataclass

from tdbg.model import Frame
from tdbg.query.trace.program import Op, short_path
from tdbg.query.trace.rows import Row


@dataclass(frozen=True, slots=True)
class InputFact:
    """One input of the origin op: its numbers and where it came from."""

    index: int
    row: Row
    op: Op
    frame: Frame | None
    is_given: bool = False  # an array or a constant of the program, that no op made
    made: Row | None = None  # the row in which its op gave it; None when that was not recorded

    def as_text(self) -> str:
        origin = "given" if self.is_given else f"from {self.op.label}"
        where = f", {short_path(self.frame.file)}:{self.frame.line}" if self.frame else ""
        return f"input {self.index}: {self._numbers()}, {origin}{where}"

    def _numbers(self) -> str:
        """Says the numbers: bad elements are counted first; extremes are those of the finite ones."""
        row = self.row
        if row.elements == 0:
            return "empty"
        bad = [row.bad_text()] if row.is_bad else []
        if row.min is not None and row.min == row.min:
            zeros = f" ({row.zero:,} exact zero{'s' if row.zero > 1 else ''})" if row.zero else ""
            bad.append(f"{'else ' if bad else ''}min {row.min:.6g}, max {row.max:.6g}{zeros}")
        elif row.zero is not None and not bad:
            bad.append(f"{row.negative:,} negative, {row.zero:,} zero, {row.positive:,} positive of {row.elements:,}")
        return ", ".join(bad) or "not measured"

    def came_from(self) -> str:
        """Says where it came from: ``came from Softmax, train.py:47``."""
        where = f", {short_path(self.frame.file)}:{self.frame.line}" if self.frame else ""
        return "was given" if self.is_given else f"came from {self.op.label}{where}"
