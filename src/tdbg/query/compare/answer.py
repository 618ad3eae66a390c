"""Holds what a comparison of two traces found: both tensors, where the runs part, and what was compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tdbg.model import BAD_COUNTS, COUNTS, Frame
from tdbg.query.trace.program import Op
from tdbg.query.trace.rows import Row

FINITE_COUNTS = tuple(name for name in COUNTS[1:] if name not in BAD_COUNTS)


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two tensors."""

    row: Row
    op: Op
    dims: tuple[int, ...]
    frame: Frame | None
    source: str

    def as_dict(self) -> dict[str, Any]:
        row = self.row
        return {
            "seq": row.seq,
            "op_type": self.op.type,
            "op_name": self.op.name,
            "file": self.frame.file if self.frame else None,
            "line": self.frame.line if self.frame else None,
            "source": self.source or None,
            "dtype": row.label,
            "shape": list(self.dims),
            "numbers": row.numbers(),
        }


@dataclass(frozen=True, slots=True)
class Parting:
    """Where two runs part."""

    step: int
    slot: int
    is_input: bool
    what: str  # in words: what differs
    difference: float  # relative to the largest element, where numbers differ
    allowed: float
    first: Side | None  # None where only the second run has this op
    second: Side | None

    @property
    def side(self) -> Side:
        """The first run's side, or the only one that there is."""
        found = self.first or self.second
        assert found is not None
        return found

    def as_dict(self) -> dict[str, Any]:
        names = ("step", "slot", "is_input", "what", "difference", "allowed")
        sides = {"a": self.first.as_dict() if self.first else None, "b": self.second.as_dict() if self.second else None}
        return {name: getattr(self, name) for name in names} | sides


@dataclass(frozen=True, slots=True)
class Diff:
    """The answer; ``parting`` is None when the runs are the same."""

    first: str
    second: str
    exact: bool
    parting: Parting | None
    compared: int
    measured: int  # of those that were compared, how many have numbers
    steps: int
    largest: float  # relative difference among what is the same
    notes: tuple[str, ...]

    def as_dict(self) -> dict[str, Any]:
        return {
            "a": self.first,
            "b": self.second,
            "verdict": "differ" if self.parting else "same",
            "exact": self.exact,
            "parting": self.parting.as_dict() if self.parting else None,
            "compared": {
                "tensors": self.compared,
                "measured": self.measured,
                "steps": self.steps,
                "largest_difference": self.largest,
            },
            "notes": list(self.notes),
        }


def what_differs(first: Side, second: Side, difference: float, numbers_only: bool) -> str:
    """Says in words what differs; "" when only numbers do."""
    if first.row.dtype != second.row.dtype and not numbers_only:
        return f"element types {first.row.label} and {second.row.label}"
    if first.dims != second.dims:
        return f"shapes {list(first.dims)} and {list(second.dims)}"
    if first.row.is_bad != second.row.is_bad:
        return f"bad values in {'A' if first.row.is_bad else 'B'} only"
    if any(getattr(first.row, name) != getattr(second.row, name) for name in BAD_COUNTS):
        return "counts of bad values"
    return "" if difference > 0 else "bits that no summary shows" if first.row.min is not None else ""
