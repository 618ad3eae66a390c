"""Keeps the screens that were shown, as a browser keeps pages, to go back and forward."""

from __future__ import annotations

from typing import NamedTuple

from tdbg.errors import TdbgError
from tdbg.shell.result import Result

_MOST = 100


class Screen(NamedTuple):
    line: str  # what was typed
    result: Result


class VisitedScreens:
    """The screens in order, oldest first; ``at`` is the one that is shown, -1 before the first."""

    def __init__(self) -> None:
        self.screens: list[Screen] = []
        self.at = -1

    @property
    def shown(self) -> Screen | None:
        return self.screens[self.at] if self.screens else None

    def add(self, line: str, result: Result) -> None:
        """Adds a screen behind the one that is shown; what could have been gone forward to is forgotten."""
        self.screens = [*self.screens[: self.at + 1], Screen(line, result)][-_MOST:]
        self.at = len(self.screens) - 1

    def replace(self, result: Result) -> None:
        """Changes the screen that is shown: it was searched."""
        self.screens[self.at] = self.screens[self.at]._replace(result=result)

    def move(self, by: int) -> Result:
        if not 0 <= self.at + by < len(self.screens):
            raise TdbgError("there is no screen before this one" if by < 0 else "there is no screen after this one")
        self.at += by
        return self.screens[self.at].result

    def cut(self, at: int) -> None:
        """Forgets what came behind that place."""
        self.screens, self.at = self.screens[: at + 1], at

    def forget(self) -> None:
        self.cut(-1)
