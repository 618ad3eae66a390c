"""Opens tdbg's files under descriptors that the program is not likely to close, and never writes to a file of the
program's.

Some programs close all descriptors up to some number, as daemons do, and open files of their own, which then get the
numbers that were tdbg's. So tdbg's are high, where ``open`` gives none out, and before each use they are asked whether
they still lead to the same file.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

try:
    import fcntl
    import resource
except ImportError:  # Windows has neither, and no descriptors that are inherited
    fcntl = resource = None  # type: ignore[assignment]

_HIGHEST = 4096  # the kernel's table grows with the highest number that is in use


def out_of_the_way(descriptor: int) -> int:
    """The same file under a high number, where there is one; the given descriptor is closed then."""
    if fcntl is None:
        return descriptor
    most, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    lowest = _HIGHEST if most == resource.RLIM_INFINITY else min(_HIGHEST, most * 3 // 4)
    try:
        high = fcntl.fcntl(descriptor, fcntl.F_DUPFD_CLOEXEC, lowest)
    except OSError:
        return descriptor
    os.close(descriptor)
    return high


def open_high(path: str | os.PathLike, flags: int, mode: int = 0o644) -> int:
    """As ``os.open``; also the ``opener`` of ``open``."""
    return out_of_the_way(os.open(path, flags | getattr(os, "O_CLOEXEC", 0), mode))


class OwnFile:
    """A descriptor and what it led to when it was opened; ``path`` is None for a file without a name."""

    def __init__(self, path: Path | None, descriptor: int) -> None:
        self.path, self._descriptor = path, descriptor
        self._identity = _identity(os.fstat(descriptor))

    def descriptor(self) -> int:
        """It leads to this file. When the program has closed it, it is opened again; OSError when the file is gone."""
        if not self._is_ours():
            if self.path is None:
                raise OSError(errno.EBADF, "the program closed its file")
            again = open_high(self.path, os.O_WRONLY)
            if _identity(os.fstat(again)) != self._identity:
                os.close(again)
                raise OSError(errno.EBADF, "the program closed its file, which another has replaced")
            self._descriptor = again
        return self._descriptor

    def close(self) -> None:
        if self._is_ours():
            os.close(self._descriptor)
        self._descriptor = -1

    def _is_ours(self) -> bool:
        """A file that is gone may have left its number to a new one of the program's: its name tells them apart."""
        if self._descriptor < 0:
            return False
        with contextlib.suppress(OSError):
            found = os.fstat(self._descriptor)
            has_name = found.st_nlink > 0 if self.path is None else _identity(os.stat(self.path)) == self._identity
            return _identity(found) == self._identity and has_name == (self.path is not None)
        return False


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
