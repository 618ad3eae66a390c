"""Defines the two errors tdbg raises on purpose; every message says what happened, where, and what to type next."""


class TdbgError(Exception):
    """Something is wrong with what tdbg was given (a trace, a mode, a filter); the message is one clear sentence."""


class TdbgCommandError(TdbgError):
    """Ends a command with a message and an exit status (2 is wrong usage)."""

    def __init__(self, message: str, exit_code: int = 2) -> None:
        super().__init__(message)
        self.exit_code = exit_code
