"""Makes links of the places in the program that a line of text names."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

from tdbg.model import Frame
from tdbg.query.trace.program import short_path
from tdbg.scene import Scene
from tdbg.shell.command import quoted
from tdbg.shell.result import Line, Span


def place_text(file: str, line: int) -> str:
    """Writes a place as ``train.py:41``."""
    return f"{short_path(file)}:{line}"


def source_link(file: str, line: int) -> str:
    return f"ps -b {line} {quoted(file)}"


def place(file: str | None, line: int | None) -> Span:
    """Writes a place as ``train.py:41``, short, for a table; "" where there is no line."""
    if not file or line is None or line < 0:
        return Span("")
    return Span(f"{os.path.basename(file)}:{line}", "file", source_link(file, line))


def step_link(scene: Scene, step: int, then: str = "") -> str:
    """Writes the command that goes to a step, and on; "" where moments are runs, which steps do not number."""
    moments = scene.moments()
    if step < 0 or not moments or moments[0].kind != "step":
        return ""
    return f"steps {step}{f'; {then}' if then else ''}"


def places(frames: Iterable[Frame | None]) -> dict[str, str]:
    """Gives the names by which a verdict calls lines of the program, and the commands that show them."""
    return {place_text(frame.file, frame.line): source_link(frame.file, frame.line) for frame in frames if frame}


def linked(text: str, links: Mapping[str, str], style: str = "") -> Line:
    known = [re.escape(name) for name in sorted(links, key=len, reverse=True)]
    if not known:
        return (Span(text, style),)
    spans = []
    for piece in re.split(rf"({'|'.join(known)})(?!\d)", text):
        if piece in links:
            spans.append(Span(piece, "file", links[piece]))
        elif piece:
            spans.append(Span(piece, style))
    return tuple(spans)
