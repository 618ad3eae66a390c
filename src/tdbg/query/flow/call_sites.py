"""Tells what can honestly be said of a bad value that came out of a call which was not looked inside."""

from __future__ import annotations

from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.query.causes import Cause
from tdbg.query.trace.calls import Calls
from tdbg.query.trace.fused import fused
from tdbg.query.trace.op import function_name
from tdbg.query.trace.program import Op, Program, short_path
from tdbg.query.trace.rows import Row, Rows
from tdbg.store.plain_files import json_object
from tdbg.vocabulary import OUT_OF_LISTS, PIPELINES, Kind

# They take out what a call put into an object that has no numbers of its own: Keras gets its losses so.
_BOXES = OUT_OF_LISTS | {Kind.OPTIONAL_VALUE}
_NEXT = "record with --mode numerics to see where; if nothing is bad then, {rewrites_of_the_compiler} make it"


def is_variable_after_call(op: Op) -> bool:
    """Tells whether a row is what a variable held when a call came back (mode edges): an eager assignment itself has no
    output."""
    return op.graph < 0 and op.kind == Kind.ASSIGN


def began_inside(rows: Rows, program: Program, process: int, row: Row, op: Op) -> Cause | None:
    """Says it of an output of a call that was not looked inside, or of a variable that it left bad; None of others."""
    if op.graph >= 0 and (op.kind == Kind.CALL or op.number in program.fused):
        return _inside_session(program, op)
    if op.graph >= 0 or row.is_input or op.kind == Kind.READ:
        return None
    is_box = op.kind in _BOXES
    calls = rows.calls(process)
    execution = _maker_of_box(calls, row.execution) if is_box else row.execution
    _, number, graph, _ = calls.of(execution)
    call = program.ops.get(number)
    if call is None or not (call.kind == Kind.CALL or graph >= 0):
        return None
    if any(one.graph == graph and one.observed for one in program.ops.values()):
        return None  # it was looked inside
    function = program.functions.get(graph)
    name = function.python.rsplit(".", 1)[-1] if function and function.python else call.label
    evidence = []
    if is_variable_after_call(op):
        evidence.append(f"{dialect_of(op.framework).word('variable')} {op.name} went bad in this call")
    if function and function.file and function.line > 0:
        evidence.append(f"{name} is defined at {short_path(function.file)}:{function.line}")
    if any(one.graph == graph and one.kind in PIPELINES for one in program.ops.values()):
        evidence.append("it reads data from an iterator, so the data may be bad too")
    return Cause("unknown", f"began inside `{name}`; {dialect_of(call.framework).fill(_NEXT)}", tuple(evidence))


def _inside_session(program: Program, op: Op) -> Cause | None:
    """Says it of a call that a Session's runtime left as it is, so that its function ran apart from the graph that was
    watched, and of what was computed from constants before the run."""
    try:
        about = json_object(program.attributes(op.number))
    except ValueError:  # damaged
        about = {}
    dialect = dialect_of(op.framework)
    is_constant = "value" in about or fused(about).is_constant(op.framework)
    if op.kind == Kind.CALL:
        function = function_name(str(about.get("f") or ""), op.framework)
        name = f"the function `{function}`" if function else f"the call {op.name}"
        why = _why_not_inside(dialect, is_constant)
        return Cause("unknown", f"began inside {name}, which tdbg did not look inside", (why,))
    if not is_constant:
        return None
    parts = [program.ops[part] for part, whole in program.wholes.items() if whole == op.number]
    lines = [(part.type, program.user_frame(part)) for part in parts]
    told = [f"{kind}, {short_path(frame.file)}:{frame.line}" if frame else kind for kind, frame in lines]
    text = f"began inside what {dialect.title} computed from constants before the run"
    return Cause("unknown", f"{text}: this op or {' or '.join(told)}")


def _why_not_inside(dialect: Dialect, is_constant: bool) -> str:
    if is_constant:
        return f"{dialect.title} computed it from constants, before the run"
    return dialect.fill("{it_ran_apart_from_the_graph}")


def _maker_of_box(calls: Calls, execution: int) -> int:
    """Finds the call that gave the first input of an eager op; -1 when it was none."""
    given = calls.of(execution).inputs[:1]
    return next(iter(calls.makers_of(given)), -1) if given else -1
