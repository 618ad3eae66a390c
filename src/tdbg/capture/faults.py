"""Counts faults of tdbg itself and says each once on standard error; none is raised into the host program.

An exception that strikes inside tdbg's code may be none of its faults: Python runs the program's signal handlers, and
raises what other threads ask it to, between any two instructions. Those exceptions are the program's, and go through.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import signal
import sys
import traceback
from collections.abc import Iterator
from types import FrameType

counts: dict[str, int] = {}
_CALLED = frozenset(
    ["tdbg", "numpy", "pyarrow", "duckdb", "tensorflow", "keras", "google", "ml_dtypes", "textual", "rich"]
)


def say(text: str) -> None:
    """One line to the user, whatever state standard error is in."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        print(f"tdbg: {text}", file=sys.stderr, flush=True)


def report(doing: str, error: BaseException) -> None:
    """Count a fault; say it the first time. What is not tdbg's own is raised, and with TDBG_STRICT=1 everything is."""
    if is_the_programs(error):
        raise error
    counts[doing] = counts.get(doing, 0) + 1
    if os.environ.get("TDBG_STRICT") == "1":
        raise error
    if counts[doing] == 1:
        frame = traceback.extract_tb(error.__traceback__)[-1:] if error.__traceback__ else []
        where = f" [{os.path.basename(frame[0].filename)}:{frame[0].lineno}]" if frame else ""
        say(f"tdbg failed while {doing} ({type(error).__name__}: {error}){where}; your program continues")


def is_the_programs(error: BaseException) -> bool:
    """Whether a signal handler of the program raised it, or it was asked for from another thread."""
    trace, frames = error.__traceback__, []
    while trace is not None:
        frames.append(trace.tb_frame)
        trace = trace.tb_next
    if any(_is_handler(called, interrupted) for interrupted, called in itertools.pairwise(frames)):
        return True
    # PyThreadState_SetAsyncExc leaves no frame. An exception type that neither Python nor a library that tdbg calls has
    # defined can come from nowhere else, unless code of the program's was called here.
    home = (type(error).__module__ or "").partition(".")[0]
    is_foreign = home not in sys.stdlib_module_names and home not in _CALLED
    return is_foreign and all(_home(frame) in _CALLED or _home(frame) in sys.stdlib_module_names for frame in frames)


def _is_handler(frame: FrameType, interrupted: FrameType) -> bool:
    """Python calls a signal handler with the very frame that it interrupts."""
    for value in frame.f_locals.values():
        if value is interrupted or (isinstance(value, tuple) and any(one is interrupted for one in value)):
            return True
    handlers = (signal.getsignal(number) for number in signal.valid_signals())
    return any(getattr(handler, "__code__", None) is frame.f_code for handler in handlers)


def _home(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


@contextlib.contextmanager
def guard(doing: str) -> Iterator[None]:
    """Runs tdbg's own code so that its faults stay its own."""
    try:
        yield
    except Exception as error:
        report(doing, error)
