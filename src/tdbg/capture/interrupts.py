"""Holds the program where it is when Ctrl-C or a signal of the user's choice comes.

Ctrl-C only where a person sits at a terminal, and only in place of Python's own handler; another signal only where it
is asked for and the program has no handler: what the program does about a signal is its own.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from tdbg.capture import faults
from tdbg.capture.hold import Held, Holder

Hold = Callable[[FrameType | None], None]


class Interrupts:
    """``describe`` gives what the prompt shows of the place."""

    def __init__(self, holder: Holder, step: Callable[[], int], describe: Callable[[], Held]) -> None:
        self._holder, self._step, self._describe = holder, step, describe

    def set(self, on: bool) -> None:
        """On the main thread; elsewhere Python takes no handlers, and things stay as they are."""
        if on:
            take_ctrl_c(self._interrupted)
        else:
            give_ctrl_c_back(self._interrupted)

    def hold(self, frame: FrameType | None) -> None:
        """Holds the program in this frame, unless it is held already."""
        if self._holder.is_held:
            return
        if self._holder.breaks.is_detached:
            faults.say("the program continues without the debugger, so it is not held")
            return
        if self._holder.hold(self._step(), self._describe) is not None:
            _at_the_next_line(frame, self._holder.leave)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        if self._holder.is_held or self._holder.breaks.is_detached:
            raise KeyboardInterrupt
        self.hold(frame)


class HoldSignal:
    """``hold`` is told when there is something to hold; a signal that comes before or after is passed over."""

    def __init__(self, name: str) -> None:
        self._name, self._number = name, getattr(signal, f"SIG{name}")
        self.hold: Hold | None = None

    def install(self) -> None:
        """On the main thread of a program that has no handler for it; else nothing is done, and that is said."""
        if signal.getsignal(self._number) is not signal.SIG_DFL:
            faults.say(f"the program has its own use for SIG{self._name}, which therefore does not hold it")
            return
        try:
            signal.signal(self._number, self._received)
        except ValueError:
            faults.say(
                f"SIG{self._name} does not hold the program: Python takes signal handlers on the main thread only"
            )
            return
        faults.say(f"kill -{self._name} {os.getpid()} holds this program")

    def remove(self) -> None:
        with contextlib.suppress(ValueError):
            if signal.getsignal(self._number) == self._received:
                signal.signal(self._number, signal.SIG_DFL)

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self.hold is not None:
            self.hold(frame)
        else:
            faults.say(f"SIG{self._name} is passed over: nothing is being recorded now, so there is nothing to hold")


def take_ctrl_c(handler: Callable[[int, FrameType | None], None]) -> None:
    """Puts this handler in the place of Python's own, where a person sits at a terminal."""
    with contextlib.suppress(ValueError):
        is_pythons = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        if is_pythons and sys.stdin is not None and sys.stdin.isatty():
            signal.signal(signal.SIGINT, handler)


def give_ctrl_c_back(handler: Callable[[int, FrameType | None], None]) -> None:
    with contextlib.suppress(ValueError):
        if signal.getsignal(signal.SIGINT) == handler:
            signal.signal(signal.SIGINT, signal.default_int_handler)


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
