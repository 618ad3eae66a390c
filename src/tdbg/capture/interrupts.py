"""Ctrl-C in, while conditions may hold the program; the program held where it is, at the prompt, out.

Only where a person sits at a terminal, and only in place of Python's own handler: what the program does about SIGINT
is its own.
"""

from __future__ import annotations

import contextlib
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tdbg.capture.hold import Held, Holder


class Interrupts:
    """``describe`` gives what the prompt shows of the place, and the step."""

    def __init__(self, holder: Holder, describe: Callable[[], tuple[Held, int]]) -> None:
        self._holder, self._describe = holder, describe

    def set(self, on: bool) -> None:
        """On the main thread; elsewhere Python takes no handlers, and things stay as they are."""
        with contextlib.suppress(ValueError):
            now: Any = signal.getsignal(signal.SIGINT)
            if on and now is signal.default_int_handler and sys.stdin is not None and sys.stdin.isatty():
                signal.signal(signal.SIGINT, self._interrupted)
            elif not on and now == self._interrupted:
                signal.signal(signal.SIGINT, signal.default_int_handler)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._holder.is_held or self._holder.breaks.is_detached:
            raise KeyboardInterrupt
        held, step = self._describe()
        if self._holder.hold(step, lambda: held) is not None:
            _at_the_next_line(frame, self._holder.leave)


def _at_the_next_line(frame: FrameType | None, then: Callable[[], None]) -> None:
    """Calls ``then`` when Python goes on to the next line, or out of a function. What a handler raises may come out
    inside TensorFlow's C++, which does not expect it and crashes."""
    if frame is None or sys.gettrace() is not None:  # a debugger or a coverage tool is at work
        then()
        return
    traced: list[FrameType] = []

    def goes_on(at: FrameType, event: str, given: Any) -> None:
        sys.settrace(None)
        for one in traced:
            one.f_trace = None
        then()

    sys.settrace(lambda at, event, given: None)  # calls that begin meanwhile, perhaps from C++, are not looked at
    while frame is not None:
        frame.f_trace = goes_on
        traced.append(frame)
        frame = frame.f_back
