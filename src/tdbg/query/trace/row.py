"""One row of the table ``tensors``: what was seen of one tensor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from tdbg.model import NAMES, DType, Flag, Numbers, bad_text, is_bad

_CONTENT = ("is_bad", *(name for name in NAMES if name != "std"))


@dataclass(frozen=True, slots=True)
class Row(Numbers[int | None, float | None]):
    """One tensor event; the numbers are None where the mode did not measure them."""

    seq: int
    step: int
    execution: int
    op: int
    slot: int
    iteration: int
    dtype: int
    shape: int
    flags: int
    tensor: int
    value: int

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Self:
        """Takes what it needs of a row with all columns."""
        return cls(**{name: record[name] for name in ROW_COLUMNS})

    @property
    def is_bad(self) -> bool:
        return bool(is_bad(self.flags))

    @property
    def is_input(self) -> bool:
        return bool(self.flags & Flag.INPUT)

    @property
    def label(self) -> str:
        return DType(self.dtype).label

    def looks_like(self, other: Row) -> bool:
        """Tells whether all that is known of two tensors is the same."""
        return all(getattr(self, name) == getattr(other, name) or _are_nan(self, other, name) for name in _CONTENT)

    def bad_text(self) -> str:
        """Says how many elements are bad: ``-inf ×3 of 128``."""
        if self.nan is None:
            return f"NaN or infinity among {self.elements:,}" if self.elements >= 0 else "NaN or infinity"
        return f"{bad_text(self.nan, self.neg_inf, self.pos_inf)} of {self.elements:,}"


def _are_nan(one: Row, other: Row, name: str) -> bool:
    values = getattr(one, name), getattr(other, name)
    return all(value is not None and value != value for value in values)


ROW_COLUMNS = tuple(field.name for field in fields(Row))
