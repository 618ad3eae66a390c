"""Holds what all that listen in one process share: one recorder, one count of steps, ops and graphs, one place to be
held.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from tdbg.capture import faults
from tdbg.capture.holding import Holding
from tdbg.capture.policy import Policy
from tdbg.capture.recorder import Recorder
from tdbg.capture.silent_recorder import SilentRecorder
from tdbg.capture.source import Sources
from tdbg.capture.steps import Steps
from tdbg.frameworks import phase_of
from tdbg.frameworks.contract import Listener

# One count for all recordings of this process: functions that live on from an earlier one still hold observers, whose
# events are told by their ops' numbers.
_op_numbers = itertools.count()


class Recording:
    """One per recording, or per check that records nothing. ``recorder`` takes what listeners see."""

    def __init__(self, recorder: Recorder | SilentRecorder) -> None:
        self.recorder, self.config, self.lib = recorder, recorder.config, recorder.lib
        self.listeners: list[Listener] = []
        self.policy = Policy(self.config)
        self.steps = Steps(self.lib, self.policy, recorder.add)
        self.sources = Sources(self.lib, recorder.add, phase_of)
        self._graph_numbers = itertools.count()
        self.holding: Holding | None = None
        if isinstance(recorder, Recorder):
            self.holding = Holding(recorder, self.policy, self.steps, self.sources, self._narrowed)
        self.lib.forget_makers()
        self.lib.set_first_op(self.next_op())
        _running.append(self)

    @property
    def path(self) -> Path | None:
        """The trace; None of a check that records nothing."""
        return self.recorder.path if isinstance(self.recorder, Recorder) else None

    def next_op(self) -> int:
        return next(_op_numbers)

    def next_graph(self) -> int:
        return next(self._graph_numbers)

    def _narrowed(self) -> None:
        """The person at the prompt wants other things to be recorded from here on."""
        for listener in self.listeners:
            listener.narrowed()

    def breakpoint(self, frame: FrameType) -> None:
        """The program asks to be held here, by the first listener that can."""
        for listener in self.listeners:
            if listener.breakpoint(frame):
                return

    def hold(self, frame: FrameType | None) -> None:
        """A signal asks for the program to be held in this frame."""
        if self.holding is not None:
            self.holding.interrupts.hold(frame)

    def stop(self, **end: Any) -> None:
        _running[:] = [other for other in _running if other is not self]
        self.lib.set_recording(False)
        if self.holding is not None:
            self.holding.stop()
        for listener in self.listeners:
            with faults.guard("switching off"):
                listener.stop()
        if self.holding is not None:
            self.holding.wait()
        if isinstance(self.recorder, Recorder):
            self.recorder.stop(**end)
        for listener in self.listeners:
            with faults.guard("switching off"):
                listener.ended()

    # ---- fork

    def before_fork(self) -> None:
        if isinstance(self.recorder, Recorder):
            self.recorder.hold()

    def after_fork_in_parent(self) -> None:
        if isinstance(self.recorder, Recorder):
            self.recorder.release()

    def after_fork_in_child(self) -> None:
        """A thread that held one of these locks does not exist here."""
        with faults.guard("following a fork"):
            for lock in (self.steps._lock, self.sources._lock):
                lock._at_fork_reinit()  # type: ignore[union-attr]
            if self.holding is not None:
                self.holding.holder.after_fork()
            for listener in self.listeners:
                listener.after_fork()
            if isinstance(self.recorder, Recorder):
                self.recorder.restart_after_fork()
                self.lib.set_recording(self.steps.recording)


_running: list[Recording] = []
_held: list[Recording] = []  # wait for a fork to be over; another thread may stop one meanwhile


def _before_fork() -> None:
    for one in list(_running):
        one.before_fork()
        _held.append(one)


def _after_fork(then: Callable[[Recording], None]) -> None:
    recordings = _held[:]
    _held.clear()
    for one in recordings:
        then(one)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=_before_fork,
        after_in_parent=lambda: _after_fork(Recording.after_fork_in_parent),
        after_in_child=lambda: _after_fork(Recording.after_fork_in_child),
    )
