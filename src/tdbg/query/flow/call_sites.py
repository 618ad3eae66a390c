"""Tells what can honestly be said of a bad value that came out of a call which was not looked inside."""

from __future__ import annotations

from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.query.causes import Cause
from tdbg.query.trace.fused import fused
from tdbg.query.trace.program import Op, Program, function_name, short_path
from tdbg.query.trace.rows import Row, Rows
from tdbg.store.plain_files import json_object
from tdbg.vocabulary import OUT_OF_LISTS, PIPELINES, Kind

# They take out what a call put into an object that has no numbers of its own: Keras gets its losses so.
_BOXES = OUT_OF_LISTS | {Kind.OPTIONAL_VALUE}
_NEXT = "record with --mode numerics to see where; if nothing is bad then, {rewrites_of_the_compiler} make it"


def is_variable_after_call(op: Op) -> bool:
    """What a variable held when a call came back (mode edges): an eager assignment itself has no output."""
    return op.graph < 0 and op.kind == Kind.ASSIGN


def began_inside(rows: Rows, program: Program, process: int, row: Row, op: Op) -> Cause | None:
    """For an output of a call that was not looked inside, or a variable that it left bad; else None."""
    if op.graph >= 0 and (op.kind == Kind.CALL or op.number in program.fused):
        return _inside_session(rows, program, process, op)
    if op.graph >= 0 or row.is_input or op.kind == Kind.READ:
        return None
    is_box = op.kind in _BOXES
    found = rows.query(
        "SELECT x.op, f.python, f.file, f.line, x.graph FROM executions x LEFT JOIN functions f "
        f"USING (process, graph) WHERE x.process = {process} AND x.execution = ? LIMIT 1",
        [_maker_of_box(rows, process, row.execution) if is_box else row.execution],
    )
    call = program.ops.get(found[0][0]) if found else None
    if call is None or not (call.kind == Kind.CALL or found[0][4] >= 0):
        return None
    _, python, file, line, graph = found[0]
    if any(one.graph == graph and one.observed for one in program.ops.values()):
        return None  # it was looked inside
    name = python.rsplit(".", 1)[-1] if python else call.label
    evidence = []
    if is_variable_after_call(op):
        evidence.append(f"variable {op.name} went bad in this call")
    if file and line is not None and line > 0:
        evidence.append(f"{name} is defined at {short_path(file)}:{line}")
    if any(one.graph == graph and one.kind in PIPELINES for one in program.ops.values()):
        evidence.append("it reads data from an iterator, so the data may be bad too")
    return Cause("unknown", f"began inside `{name}`; {dialect_of(call.framework).fill(_NEXT)}", tuple(evidence))


def _inside_session(rows: Rows, program: Program, process: int, op: Op) -> Cause | None:
    """Of a call that a Session's runtime left as it is, so that its function ran apart from the graph that was watched;
    and of what was computed from constants before the run."""
    query = f"SELECT attributes FROM ops WHERE process = {process} AND op = ?"
    try:
        about = json_object(str((rows.query(query, [op.number]) or [("{}",)])[0][0]))
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


def _maker_of_box(rows: Rows, process: int, execution: int) -> int:
    """The call that gave the first input of an eager op; -1 when it was none."""
    found = rows.query(
        f"SELECT e.execution FROM executions x JOIN ends e USING (process) WHERE x.process = {process} "
        "AND x.execution = ? AND list_contains(e.outputs, x.inputs[1]) LIMIT 1",
        [execution],
    )
    return found[0][0] if found else -1
