"""Says why bad values that came and went are no trouble."""

from __future__ import annotations

from dataclasses import dataclass

from tdbg.query.trace.program import Op
from tdbg.query.trace.rows import Row
from tdbg.vocabulary import COMPARE, HAND_ON, WEIGH, Kind

HELD = (Kind.CONSTANT, Kind.READ, Kind.ARGUMENT)  # what the program has, and did not compute here


@dataclass(frozen=True, slots=True)
class Harmless:
    """Bad values that came and went: one place of the program, with the reason why they are no trouble."""

    row: Row
    op: Op
    reason: str  # mask_fill, infinite_initial_value, loss_scale_overflow, infinite_result or healed
    by: Op | None = None  # the op behind which they are gone


def reason_of(row: Row, op: Op, end: Row, by: Op | None, is_kept: bool) -> Harmless:
    """Finds the reason. ``end`` is the last bad row that came of this one, ``by`` the op that made good values of it,
    ``is_kept`` says that one of them was given or is kept by the program."""
    if row.nan == 0 and by is None and not is_kept and op.kind != Kind.CONSTANT:
        return Harmless(row, op, "infinite_result")
    is_meant = row.is_input or op.kind in HELD or op.kind in HAND_ON
    if not row.nan and ((by is not None and by.kind in COMPARE) or is_meant):
        is_array = row.elements > 1 or end.elements > 1 or (by is not None and by.kind in WEIGH)
        return Harmless(row, op, "mask_fill" if is_array else "infinite_initial_value", by)
    return Harmless(row, op, "healed", by)
