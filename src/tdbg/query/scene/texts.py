"""Gives the lines of a source file as the trace holds them.

The disk is never read: a trace may name any file of whoever reads it, and what it names is shown to all who see the
page.
"""

from __future__ import annotations

from collections.abc import Sequence

from tdbg.model import Frame
from tdbg.query.trace.program import Program


class Texts:
    """The texts of source files. A trace holds the user's files, and not those of libraries."""

    def __init__(self, program: Program) -> None:
        self._program = program

    def of(self, file: str) -> Sequence[str]:
        return self._program.text_of(file)

    def line(self, frame: Frame) -> str:
        return self._program.line_text(frame)
