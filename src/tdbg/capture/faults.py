"""Faults of tdbg itself: counted, said once each on standard error, never raised into the host program."""

from __future__ import annotations

import contextlib
import os
import sys
import traceback
from collections.abc import Iterator

counts: dict[str, int] = {}


def say(text: str) -> None:
    """One line to the user, whatever state standard error is in."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"tdbg: {text}", file=sys.stderr, flush=True)


def report(doing: str, error: BaseException) -> None:
    """Count a fault; say it the first time. With TDBG_STRICT=1 it is raised."""
    counts[doing] = counts.get(doing, 0) + 1
    if os.environ.get("TDBG_STRICT") == "1":
        raise error
    if counts[doing] == 1:
        frame = traceback.extract_tb(error.__traceback__)[-1:] if error.__traceback__ else []
        where = f" [{os.path.basename(frame[0].filename)}:{frame[0].lineno}]" if frame else ""
        say(f"a fault while {doing} ({type(error).__name__}: {error}){where}; your program goes on, the trace has less")


@contextlib.contextmanager
def guard(doing: str) -> Iterator[None]:
    """Runs tdbg's own code so that its faults stay its own."""
    try:
        yield
    except Exception as error:
        report(doing, error)
