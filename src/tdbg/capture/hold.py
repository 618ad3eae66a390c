"""Lets a thread that met a condition or a breakpoint wait at a prompt, and gives what the program does next.

One thread is held at a time; another that is to be held waits for its turn. The rest of the program goes on until it
needs what the held thread computes.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tdbg.capture import children, control, faults
from tdbg.capture.breaks import Breaks
from tdbg.capture.control import Action, Kind, Pause
from tdbg.capture.held_scene import HeldScene, HeldTensor
from tdbg.errors import TdbgError

_OWN_THREADS = "tdbg-"
_OVER = "the program was ended at tdbg's prompt"
_IN_A_CHILD = "a child process met a breakpoint or a condition; tdbg does not stop child processes"


@dataclass(frozen=True)
class Held:
    """What the prompt shows of the place where the program is held."""

    kind: str  # condition, breakpoint, step or interrupt
    headline: str
    lines: Sequence[str] = ()
    tensors: Sequence[HeldTensor] = ()
    first: str = ""


class Holder:
    """Holds this process. ``watch`` says what is recorded from here on, as the filters of an Action ask."""

    def __init__(
        self,
        breaks: Breaks,
        trace: Path,
        flush: Callable[[], None],
        note: Callable[[str, str], None],
        watch: Callable[[Action], None],
    ) -> None:
        self.breaks = breaks
        self._trace, self._flush, self._note, self._watch = trace, flush, note, watch
        self._turn, self._pid, self._holding = threading.Lock(), os.getpid(), threading.local()
        self._prompt: Any = None
        self._has_noted = False

    def after_fork(self) -> None:
        self._turn = threading.Lock()

    def hold(self, step: int, make: Callable[[], Held | None]) -> str | None:
        """Holds this thread, unless ``make``, asked when it is its turn, has nothing to show any more. Returns why the
        program is to end; None: it goes on."""
        if os.getpid() != self._pid or children.is_child():
            self._pass_over(_IN_A_CHILD)
            return None
        if getattr(self._holding, "is_on", False) or threading.current_thread().name.startswith(_OWN_THREADS):
            return None  # the prompt itself computes something
        self._holding.is_on = True
        try:
            with self._turn:
                if not self.breaks.is_over:
                    self._hold(step, make)
        except Exception as error:
            faults.report("holding the program", error)
        finally:
            self._holding.is_on = False
        return _OVER if self.breaks.is_over else None

    @property
    def is_held(self) -> bool:
        """Whether this very thread is, so that what interrupts it is meant for the prompt."""
        return getattr(self._holding, "is_on", False)

    def wait(self) -> None:
        """Until no other thread is held: the program may come to its end meanwhile."""
        if not getattr(self._holding, "is_on", False):
            with self._turn:
                pass

    def leave(self) -> None:
        """Ends the program, when that was asked for."""
        if self.breaks.is_over and os.getpid() == self._pid:
            raise SystemExit(1)

    def _hold(self, step: int, make: Callable[[], Held | None]) -> None:
        try:
            held = make()
            if held is None:
                return
            self._flush()
            scene = control.scene_at(self._trace, self._pid, step)
            pause = Pause(held.kind, held.headline, HeldScene(scene, held.tensors), held.first, held.lines)
            while True:
                action = self._ask(pause)
                try:
                    self.breaks.obey(action, step, scene.filters)
                    break
                except TdbgError as error:
                    faults.say(str(error))
            self._watch(action)
        except Exception as error:
            self.breaks.obey(Action(Kind.DETACH), step, {})
            faults.report("showing where the program is held, so it is not held any more", error)

    def _ask(self, pause: Pause) -> Action:
        if self._prompt is None:
            self._prompt = control.prompt()
        while True:
            try:
                with control.held(self.breaks), _without_interrupts():
                    return self._prompt.ask(pause)
            except KeyboardInterrupt:
                continue

    def _pass_over(self, text: str) -> None:
        if not self._has_noted:
            self._has_noted = True
            self._note("break", text)


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Ctrl-C belongs to the prompt. Python gives it to the main thread, which may be waiting inside TensorFlow for this
    one and would be interrupted as soon as it goes on."""
    if threading.current_thread() is threading.main_thread():
        yield
        return
    set_handler = ctypes.pythonapi.PyOS_setsig
    set_handler.restype, set_handler.argtypes = ctypes.c_void_p, (ctypes.c_int, ctypes.c_void_p)
    before = set_handler(signal.SIGINT, int(signal.SIG_IGN))
    try:
        yield
    finally:
        set_handler(signal.SIGINT, before)
