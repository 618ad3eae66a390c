"""A prompt that types given commands, and remembers where the program was held and what was shown."""

from __future__ import annotations

import pytest

from tdbg.capture import control
from tdbg.capture.control import Action, Kind, Pause
from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout
from tdbg.shell.result import Result


class ScriptedPrompt:
    """When no command is left the program goes on without it."""

    def __init__(self, lines: tuple[str, ...]) -> None:
        self._lines = list(lines)
        self.pauses: list[Pause] = []
        self.shown: list[str] = []

    def ask(self, pause: Pause) -> Action:
        self.pauses.append(pause)
        engine = Engine(pause.scene, is_held=True)
        while self._lines:
            result: Result = engine.execute(self._lines.pop(0))
            self.shown.append("\n".join(Layout(result).plain()))
            if result.action is not None:
                return result.action
        return Action(Kind.DETACH)

    @property
    def headlines(self) -> list[str]:
        return [pause.headline for pause in self.pauses]


def typed(monkeypatch: pytest.MonkeyPatch, *lines: str) -> ScriptedPrompt:
    """What is typed wherever the program is held from here on."""
    prompt = ScriptedPrompt(lines)
    monkeypatch.setattr(control, "prompt", lambda *args: prompt)
    return prompt
