"""Takes Ctrl-C while runs of wrapped Sessions go on as the wish to be asked before the next one."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import FrameType
from typing import Any
from weakref import WeakSet

from tdbg.capture import faults
from tdbg.capture.interrupts import give_ctrl_c_back, take_ctrl_c


class CtrlC:
    """One for all wrappers: whichever runs next asks. Pressed again before that, it is the program's."""

    def __init__(self) -> None:
        self.is_wanted = False
        self._followed: WeakSet[Any] = WeakSet()  # wrappers whose runs go on

    def follow(self, wrapper: Any) -> None:
        self._followed.add(wrapper)
        take_ctrl_c(self._pressed)

    def leave(self, wrapper: Any) -> None:
        self._followed.discard(wrapper)
        if not self._followed:
            self.is_wanted = False
            give_ctrl_c_back(self._pressed)

    @contextlib.contextmanager
    def at_prompt(self) -> Iterator[None]:
        """There it throws the typed line away."""
        self.is_wanted = False
        give_ctrl_c_back(self._pressed)
        try:
            yield
        finally:
            if self._followed:
                take_ctrl_c(self._pressed)

    def _pressed(self, number: int, frame: FrameType | None) -> None:
        if self.is_wanted or not self._followed:
            raise KeyboardInterrupt
        self.is_wanted = True
        faults.say("the program will be held before its next run; Ctrl-C again interrupts it")


CTRL_C = CtrlC()
