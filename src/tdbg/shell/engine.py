"""A scene and lines that a person types in; Results out. Knows no terminal: line mode, screen, page and -c use it."""

from __future__ import annotations

import difflib
import shlex
from collections.abc import Mapping

from tdbg.errors import TdbgError
from tdbg.scene import Scene
from tdbg.shell.commands import by_word
from tdbg.shell.result import Result, error


class Engine:
    """``scene`` may be exchanged (by ``open``, or at the next prompt of a running program)."""

    def __init__(self, scene: Scene, settings: Mapping[str, object] | None = None) -> None:
        self.scene = scene
        self.settings = dict(settings or {})

    def execute(self, line: str) -> Result:
        """Never raises: what cannot be done is a Result that says so in one line."""
        try:
            words = shlex.split(line)
            if not words:
                return Result()
            command = by_word().get(words[0])
            if command is None:
                raise TdbgError(self._unknown(words[0]))
            return command.run(self, command.parse(words[1:]))
        except (TdbgError, ValueError) as problem:
            return error(str(problem))

    def _unknown(self, word: str) -> str:
        near = difflib.get_close_matches(word, by_word(), 1)
        return f"there is no command {word!r}; " + (f"did you mean {near[0]!r}?" if near else "type help")
