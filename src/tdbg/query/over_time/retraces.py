"""Finds functions that were traced again because an argument changed, one alert for each tracing.

Tracing again with the same arguments is no alert: a function that creates variables is traced twice, and gradients need
variants of the graph that is there. A function that is traced while another is being traced follows that one and has no
alert of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.plain_text import all_plain
from tdbg.query.over_time.alert_kinds import Alert, ordinal
from tdbg.query.trace.program import Program, short_path
from tdbg.query.trace.rows import Rows
from tdbg.store.plain_files import json_object

_SIGNATURES = """
    SELECT f.graph, f.python, f.file, f.line, f.instance, f.signature, g.stack, g.time
    FROM (SELECT DISTINCT process, graph, python, file, line, instance, signature FROM functions) f
    JOIN graphs g USING (process, graph)
    WHERE process = {process} AND f.python <> '' AND g.outer = -1 ORDER BY g.time, f.graph
"""


def retraces(rows: Rows, program: Program, process: int) -> Iterator[Alert]:
    seen: dict[int, list[dict[str, str]]] = {}
    for graph, python, file, line, instance, signature, stack, time in rows.query(_SIGNATURES.format(process=process)):
        arguments = _arguments(signature)
        before = seen.setdefault(instance, [])
        if before and arguments not in before:
            change = _change(_closest(before, arguments), arguments, _dialect_of(program, graph))
            where = f"{short_path(file)}:{line}" if file else "unknown"
            nth = ordinal(len(before) + 1)
            text = f"{python} ({where}) was traced again ({nth} time): {change}"
            yield _alert(rows, program, process, graph, stack, time, text)
        if arguments not in before:
            before.append(arguments)


def _alert(rows: Rows, program: Program, process: int, graph: int, stack: int, time: int, text: str) -> Alert:
    first = rows.query(
        f"SELECT execution, seq, step, op FROM executions WHERE process = {process} AND graph = ? ORDER BY seq LIMIT 1",
        [graph],
    )
    execution, seq, step, op = first[0] if first else (-1, -1, _step_at(rows, process, time), -1)
    frame = next((frame for frame in program.stack(stack) if frame.is_user), None)
    return Alert("retrace", text, frame, step, seq, time, op, graph, execution)


def _step_at(rows: Rows, process: int, time: int) -> int:
    found = rows.query(f"SELECT max(step) FROM steps WHERE process = {process} AND time <= ?", [time])
    return found[0][0] if found and found[0][0] is not None else -1


def _arguments(signature: str | None) -> dict[str, str]:
    try:
        content = all_plain(json_object(signature or "{}"))
    except ValueError:
        return {}
    return {str(name): str(what) for name, what in content.items()}


def _closest(known: list[dict[str, str]], arguments: dict[str, str]) -> dict[str, str]:
    """Finds the earlier tracing that differs least, the latest of several."""
    return min(reversed(known), key=lambda other: len(_differing(other, arguments)))


def _differing(old: dict[str, str], new: dict[str, str]) -> list[str]:
    return [name for name in [*new, *(name for name in old if name not in new)] if old.get(name) != new.get(name)]


def _dialect_of(program: Program, graph: int) -> Dialect:
    return dialect_of(next((op.framework for op in program.ops.values() if op.graph == graph), ""))


def _change(old: dict[str, str], new: dict[str, str], dialect: Dialect) -> str:
    names = _differing(old, new)
    sentences = [_one_change(name, old.get(name), new.get(name)) for name in names[:3]]
    more = f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    advice = ""
    if any(_is_python_number(old.get(name)) and _is_python_number(new.get(name)) for name in names):
        advice = "; pass a tensor"
    elif names and all(_is_tensor(old.get(name)) and _is_tensor(new.get(name)) for name in names):
        told = dialect.words.get("one_signature")
        advice = f"; {told}" if told else ""
    return ", ".join(sentences) + more + advice


def _one_change(name: str, old: str | None, new: str | None) -> str:
    if old is None:
        return f"argument {name} is new ({new})"
    if new is None:
        return f"argument {name} is gone (it was {old})"
    if old.startswith("<") and new.startswith("<"):
        return f"argument {name} is a different {new[1:].split(' ')[0]} object"
    kind = "argument" if _is_tensor(old) or _is_tensor(new) else "python value"
    return f"{kind} {name} changed from {old} to {new}"


def _is_tensor(text: str | None) -> bool:
    """Whether a text describes a tensor, ``float32[2,3]`` or ``int64 of any rank``, and not a number, a quoted text or
    an object."""
    return text is not None and text[:1].isalpha() and text.endswith(("]", " of any rank"))


def _is_python_number(text: str | None) -> bool:
    try:
        float(text or "")
    except ValueError:
        return False
    return True
