"""Catches what the program prints while the screen is up, and prints it, whole and in order, afterwards.

Standard output and error are exchanged at the level of descriptors, so texts from C are caught too. They go to a file:
a pipe could fill while the thread that prints holds the GIL.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import sys
import tempfile

from tdbg.store.own_files import out_of_the_way


class Printed:
    """Catches those of descriptors 1 and 2 that are terminals. ``terminal`` is the descriptor to draw on."""

    def __init__(self) -> None:
        with tempfile.TemporaryFile(buffering=0) as file:
            self._file = os.fdopen(out_of_the_way(os.dup(file.fileno())), "w+b", buffering=0)
        self._kept: dict[int, int] = {}
        self.terminal = -1

    def __enter__(self) -> Printed:
        _flush()
        fcntl.fcntl(self.file, fcntl.F_SETFL, fcntl.fcntl(self.file, fcntl.F_GETFL) | os.O_APPEND)
        for descriptor in (1, 2):
            if os.isatty(descriptor):
                self._kept[descriptor] = out_of_the_way(os.dup(descriptor))
                os.dup2(self.file, descriptor)
        self.terminal = self._kept.get(1, self._kept.get(2, -1))
        return self

    @property
    def file(self) -> int:
        """The descriptor of what was caught."""
        return self._file.fileno()

    def text(self, limit: int = 1_000_000) -> str:
        """Gives the last of what was printed so far."""
        _flush()
        size = os.fstat(self.file).st_size
        return os.pread(self.file, limit, max(0, size - limit)).decode(errors="replace")

    def size(self) -> int:
        return os.fstat(self.file).st_size

    def __exit__(self, *exc: object) -> None:
        _flush()
        for descriptor, kept in self._kept.items():
            with contextlib.suppress(OSError):  # the program may have closed it
                os.dup2(kept, descriptor)
        with contextlib.suppress(OSError):  # the terminal may be gone
            self._give_back()
        for kept in self._kept.values():
            with contextlib.suppress(OSError):
                os.close(kept)
        with contextlib.suppress(OSError):
            self._file.close()

    def _give_back(self) -> None:
        at = 0
        while chunk := os.pread(self.file, 1 << 16, at):
            at += os.write(self.terminal, chunk)


def _flush() -> None:
    """Writes out what Python holds back, so that it goes where it belongs: before, into or behind what is caught."""
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError, AttributeError):
            stream.flush()
