"""A file that a trace names in; its lines out, as the trace holds them or, where it was recorded here, as they are."""

from __future__ import annotations

import socket
import tokenize
from collections.abc import Mapping, Sequence
from typing import Any

from tdbg.model import Frame
from tdbg.query.program import Program

_MOST_BYTES = 4 << 20


class Texts:
    """A trace holds the user's files. Those of libraries are looked for on the machine that recorded it."""

    def __init__(self, program: Program, info: Mapping[str, Any]) -> None:
        self._program = program
        self._is_here = info.get("host") == socket.gethostname()
        self._read: dict[str, Sequence[str]] = {}

    def of(self, file: str) -> Sequence[str]:
        held = self._program.text_of(file)
        if held or not self._is_here or not file.endswith(".py"):
            return held
        if file not in self._read:
            try:
                with tokenize.open(file) as stream:
                    self._read[file] = stream.read(_MOST_BYTES).splitlines()
            except (OSError, SyntaxError, ValueError):
                self._read[file] = ()
        return self._read[file]

    def line(self, frame: Frame) -> str:
        lines = self.of(frame.file)
        return lines[frame.line - 1].strip() if 0 < frame.line <= len(lines) else ""
