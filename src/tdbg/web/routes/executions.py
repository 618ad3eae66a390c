"""Answers for executions, eager ops and calls of functions: pages of them, and one with its stack and tensors."""

from __future__ import annotations

from typing import Any

from tdbg.query.trace.executions import Which
from tdbg.web.route import LIMIT, OFFSET, PROCESS, Asked, NotFoundError, Parameter, Route
from tdbg.web.rows_and_stacks import STACK, TENSOR, frames, tensors_of
from tdbg.web.schema import PLACE, listing, maybe, named, number, one_of, record, text, together, whole

_EXECUTION = named(
    "Execution",
    record(
        execution=whole(),
        seq=whole(),
        step=whole(),
        time=number("in ms since the trace began"),
        label=text("the op's type, the function's name, or what the run of a Session was asked for"),
        kind=one_of(("function", "op")),
        graph=whole("of the function that was called; -1 for an op"),
        op=whole(),
        bad=whole("how many of its tensors hold NaN or infinity"),
        benign=whole("how many of these were harmless, once there is a verdict"),
        **PLACE,
    ),
)
_DETAIL = together(
    _EXECUTION, record(ended=maybe(number()), stack=STACK, inputs=listing(TENSOR), outputs=listing(TENSOR))
)
_MOST_TENSORS = 64


def executions(asked: Asked) -> dict[str, Any]:
    with asked.trace.lock:
        found = asked.trace.executions(asked.process())
        which = Which(asked["step"], asked["run"], asked["bad"])
        total, rows = found.page(which, asked["offset"], asked["limit"])
        place = None if asked["at"] is None else found.place_of(which, asked["at"])
    return {"total": total, "at": place, "rows": rows}


def execution(asked: Asked) -> dict[str, Any]:
    process = asked.process()
    with asked.trace.lock:
        read = asked.trace.scene(process).read
        found, inputs, outputs, ended = asked.trace.executions(process).find(asked["execution"])
        op = read.program.ops.get(found["op"])
        if op is None:
            raise NotFoundError(f"the op of execution {asked['execution']} is not in this trace")
        began = read.moments.began
        return found | {
            "ended": (ended - began) / 1e6 if ended is not None else None,
            "stack": frames(read.program, op.stack),
            "inputs": tensors_of(read, inputs[:_MOST_TENSORS]),
            "outputs": tensors_of(read, outputs[:_MOST_TENSORS]),
        }


_STEP = Parameter("step", "only those of this training step", least=-1)
_RUN = Parameter("run", "only this run of a Session", least=-1)
_BAD = Parameter("bad", "1: only those with harmful bad values", "truth", default=False)
_AT = Parameter("at", "an execution; its position in the listing is returned as `at`")

ROUTES = (
    Route(
        "/api/t/{trace}/executions",
        "Eager ops and calls of functions in the order of events",
        executions,
        named("Executions", record(total=whole(), at=maybe(whole()), rows=listing(_EXECUTION))),
        (PROCESS, _STEP, _RUN, _BAD, OFFSET, LIMIT, _AT),
    ),
    Route(
        "/api/t/{trace}/execution",
        "One of them, with its stack, inputs and outputs",
        execution,
        named("ExecutionDetail", _DETAIL),
        (PROCESS, Parameter("execution", "its number", is_required=True)),
    ),
)
