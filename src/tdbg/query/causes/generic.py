"""What can be said of any op when no other rule proves a cause."""

from __future__ import annotations

from tdbg.query.causes import Cause, rule
from tdbg.query.causes.wording import in_wide, number
from tdbg.query.verdict.case import Case


@rule()
def only_what_is_known(case: Case) -> Cause | None:
    if not case.inputs or (case.is_filtered and not case.knows_inputs):
        return None
    known = [fact.row for fact in case.inputs if fact.row.min is not None and fact.row.max is not None]
    finite = all(not fact.row.is_bad for fact in case.inputs)
    if not known or not finite:
        return None
    ranges = ", ".join(f"{number(row.min or 0)} to {number(row.max or 0)}" for row in known[:3])
    return Cause("unknown", f"{case.op.type} of finite inputs ({ranges}) is not finite", in_wide(case))
