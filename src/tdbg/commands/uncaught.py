"""Hides tdbg's frames in Python's report of an exception that leaves the user's program.

The exception goes on to the interpreter, which then does all it does for a plain program: exit status, waiting for
threads, ``atexit``, ending by SIGINT. Only the traceback is shortened on the way, in ``sys.excepthook``.
"""

from __future__ import annotations

import sys
from types import CodeType, TracebackType
from typing import Any

_MISSING: Any = object()


def hide_frames(up_to: CodeType) -> None:
    """Makes the interpreter show the next exception that it reports without the frames down to that of ``up_to``."""
    theirs = getattr(sys, "excepthook", _MISSING)

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        trace = _after(trace, up_to)
        error.__traceback__ = sys.last_traceback = trace
        if theirs is _MISSING:
            del sys.excepthook
            print("sys.excepthook is missing", file=sys.stderr)
            sys.__excepthook__(kind, error, trace)
            return
        sys.excepthook = theirs
        try:
            theirs(kind, error, trace)
        except SystemExit:
            raise
        except BaseException as second:
            _report_both(second.with_traceback(_after(second.__traceback__, show.__code__)), error)

    sys.excepthook = show


def _after(trace: TracebackType | None, code: CodeType) -> TracebackType | None:
    while trace is not None and trace.tb_frame.f_code is not code:
        trace = trace.tb_next
    return trace.tb_next if trace is not None else None


def _report_both(second: BaseException, error: BaseException) -> None:
    """Reports a failing ``sys.excepthook`` as the interpreter does."""
    second.__context__ = None
    print("Error in sys.excepthook:", file=sys.stderr)
    sys.__excepthook__(type(second), second, second.__traceback__)
    print("\nOriginal exception was:", file=sys.stderr)
    sys.__excepthook__(type(error), error, error.__traceback__)
