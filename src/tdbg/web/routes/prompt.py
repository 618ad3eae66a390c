"""Carries out lines of the debugger's prompt, and answers with what they show: lines with styles and links."""

from __future__ import annotations

import json
from typing import Any

from tdbg.errors import TdbgError
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout
from tdbg.shell.result import Result
from tdbg.web.route import PROCESS, Asked, Refused, Route
from tdbg.web.schema import listing, maybe, named, record, several, text, truth, whole, with_optional

_LONGEST = 2000
_MOST_LINES = 1000
_WIDEST = 400
_ELSEWHERE = ("run", "exit", "quit", "config", "mouse", "break")


def shell(asked: Asked) -> dict[str, Any]:
    """Carries out a line. The prompt remembers nothing from line to line; the line says where to look."""
    line, step, width = _read(asked.body)
    process = asked.process()
    scene = TraceScene(asked.trace.apart(), process)
    scene.go(step)
    engine = Engine(scene, width=width, can_write=False, open_scene=lambda name: _other(asked, name))
    word = line.strip().partition(" ")[0]
    if word in _ELSEWHERE:
        raise Refused(400, f"{word} does not work here", "type help for a list of commands")
    return _said(engine.execute(line), width)


def _read(body: bytes) -> tuple[str, int | None, int]:
    try:
        given = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(400, "the body is not JSON", 'send {"line": "lt -f has_inf_or_nan"}') from None
    if not isinstance(given, dict) or not isinstance(given.get("line"), str):
        raise Refused(400, "line is missing", 'send {"line": "lt -f has_inf_or_nan"}')
    step, width = given.get("step"), given.get("width", 120)
    if not (step is None or (isinstance(step, int) and abs(step) < 1 << 31)) or isinstance(step, bool):
        raise Refused(400, "step must be a whole number", "leave it out to look at all steps")
    if not isinstance(width, int) or not 20 <= width <= _WIDEST:
        raise Refused(400, f"width must be between 20 and {_WIDEST}", "it is how many characters fit on a line")
    if len(given["line"]) > _LONGEST:
        raise Refused(400, f"the line is longer than {_LONGEST:,} characters", "write a shorter one")
    return given["line"], step, width


def _other(asked: Asked, name: str) -> TraceScene:
    """Opens another trace by its id; only those that are served can be opened."""
    try:
        return TraceScene(asked.traces.find(name).apart())
    except Refused as refused:
        names = ", ".join(trace.id for trace in asked.traces.all())
        raise TdbgError(f"{refused.sentence}: {name}; there are {names}") from None


def _said(result: Result, width: int) -> dict[str, Any]:
    layout = Layout(result, width)
    lines = layout.lines(0, _MOST_LINES)
    return {
        "is_error": result.is_error,
        "lines": [[list(span) for span in line] for line in lines],
        "left_out": max(0, len(layout) - _MOST_LINES),
        "top": result.top,
        "menu": [list(span) for span in result.menu],
    }


_SPAN = named("Span", several(text(), text(), text()), "Text, style, and the line that a click on it types.")
_ANSWER = record(
    is_error=truth(),
    lines=listing(listing(_SPAN)),
    left_out=whole("lines that are left out"),
    top=whole("the line to begin at"),
    menu=listing(_SPAN),
)
_LINE = with_optional(
    record(line=text()), step=maybe(whole("which step or run to look at; null: all")), width=whole("letters on a line")
)

ROUTES = (
    Route(
        "/api/t/{trace}/shell",
        "What a command of tdbg shell shows",
        shell,
        named("ShellAnswer", _ANSWER),
        (PROCESS,),
        method="POST",
        body=named("ShellLine", _LINE),
    ),
)
