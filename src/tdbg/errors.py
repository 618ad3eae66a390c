"""The two errors tdbg raises on purpose; every message says what happened, where, and what to type next."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TdbgError(Exception):
    """Something is wrong with what tdbg was given (a trace, a mode, a filter); the message is one clear sentence."""


class TdbgCommandError(TdbgError):
    """Ends a command with a message and an exit status (2 is wrong usage)."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'hidden/Relu:0'?`` for the end of a message; nothing when no known word is near."""
    near = difflib.get_close_matches(word, list(known), 1)
    return f"; did you mean {near[0]!r}?" if near else ""
