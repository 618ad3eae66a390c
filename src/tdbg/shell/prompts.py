"""Asks what a held program does next, on a screen or in lines."""

from __future__ import annotations

import os
import sys
import threading
from importlib import import_module
from typing import Any

from tdbg.capture import faults
from tdbg.capture.control import UI_TYPES, Action, Kind, Pause, Prompt
from tdbg.errors import TdbgError
from tdbg.shell.colours import has_colours, written
from tdbg.shell.engine import Engine
from tdbg.shell.line_history import LineHistory
from tdbg.shell.line_mode import LineMode, has_terminal
from tdbg.shell.result import Span
from tdbg.shell.settings import Settings

_terminal = threading.RLock()  # a Session's prompt and one of --break may both want it, on different threads


def make(ui_type: str = "screen", config_file_path: Any = None) -> Prompt:
    """Makes a prompt: of lines where ``readline`` is asked for, or no screen can be shown."""
    if ui_type not in UI_TYPES:
        raise TdbgError(f"unknown ui_type {ui_type!r}; choose one of: {', '.join(UI_TYPES)}")
    settings = Settings.of_user(config_file_path)
    if settings.warning:
        faults.say(settings.warning)
    kind = ScreenPrompt if ui_type != "readline" and can_show_screen() else LinePrompt
    return kind(settings)


def can_show_screen() -> bool:
    return has_terminal() and os.environ.get("TERM") not in (None, "", "dumb")


class _HeldPrompt:
    """A prompt of a held program. One engine serves all pauses: its history and settings go on, its screens do not."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._history = settings, LineHistory.of_user()
        self._engine: Engine | None = None

    def ask(self, pause: Pause) -> Action:
        with _terminal:
            return self._ask(pause)

    def _ask(self, pause: Pause) -> Action:
        raise NotImplementedError

    def _engine_at(self, pause: Pause) -> Engine:
        if self._engine is None:
            self._engine = Engine(pause.scene, self._settings, history=self._history, is_held=True)
        self._engine.begin(pause.scene)
        return self._engine


class LinePrompt(_HeldPrompt):
    """A prompt in lines. At the end of the input the program continues without the debugger."""

    def _ask(self, pause: Pause) -> Action:
        try:
            action = self._loop(pause)
        except BrokenPipeError:
            action = None
        if action is None:
            faults.say("no more commands: the program continues without the debugger")
            return Action(Kind.DETACH)
        return action

    def _loop(self, pause: Pause) -> Action | None:
        mode = LineMode(self._engine_at(pause))
        in_colour = has_colours(sys.stdout)
        print(written((Span(pause.headline, "title"),), in_colour), *pause.lines, sep="\n")
        if pause.first:
            mode.show(mode.engine.execute(pause.first))
        return mode.loop()


class ScreenPrompt(_HeldPrompt):
    def _ask(self, pause: Pause) -> Action:
        engine = self._engine_at(pause)
        engine.can_ask = True
        return import_module("tdbg.shell.screen").ask(pause, engine)
