"""Gradients that the user wrote."""

from __future__ import annotations

from tdbg.query.causes import Cause, Fix, fix_for_op, rule
from tdbg.query.causes.wording import in_wide, share
from tdbg.query.verdict.case import Case


@rule(first=True)
def users_gradient(case: Case) -> Cause | None:
    """The user's line lies inside the gradient code that calls it."""
    if not case.is_backward or case.row.is_input:
        return None
    frames = case.program.stack(case.op.stack)
    at = next((i for i, frame in enumerate(frames) if frame.is_user), len(frames))
    if not any(case.dialect.signs.users_gradient.search(frame.file) for frame in frames[at : at + 8]):
        return None
    own = frames[at].function.rpartition(".")[2]
    zeros = [fact for fact in case.inputs if fact.row.zero]
    what = (
        f"; in input {zeros[-1].index} {share(zeros[-1].row.zero or 0, zeros[-1].row.elements, 'exactly 0')}"
        if zeros
        else ""
    )
    reason = f"the gradient written by hand in {own}() gives a bad value: {case.op.type} of finite numbers{what}"
    guard = fix_for_op(case) or Fix(f"guard {case.op.type} in {own}(), as you would in a forward pass")
    return Cause("custom_gradient", reason, in_wide(case), guard)
