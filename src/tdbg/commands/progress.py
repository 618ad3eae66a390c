"""Shows how far a long job is, in one line on a terminal; says nothing elsewhere."""

from __future__ import annotations

import sys
import time
from types import TracebackType

_SILENT = 1.0  # seconds: what is done sooner needs no line
_BETWEEN = 0.1


class Progress:
    """Shows progress. Call it with the share that is done, 0 to 1."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._is_shown = sys.stderr is not None and sys.stderr.isatty()
        self._next = time.monotonic() + _SILENT
        self._has_line = False

    def __call__(self, share: float) -> None:
        if self._is_shown and time.monotonic() >= self._next:
            self._next = time.monotonic() + _BETWEEN
            self._has_line = True
            print(f"\r\x1b[Ktdbg: {self._what}: {share:.0%}", end="", file=sys.stderr, flush=True)

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._has_line:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
