"""Numbers training steps by their signs: a gradient, an update, a new forward pass.

A step is one training step. It is found without being told: once a gradient was taken and variables were updated, the
next forward pass under a tape, or the next call of a function that takes a gradient, begins a new step.
``tdbg.step()`` says it instead, and from then on nothing is guessed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

from tdbg.capture.policy import Policy


class Steps:
    """The current step, and whether it is one that is recorded."""

    def __init__(self, lib: Any, policy: Policy, add: Any) -> None:
        self._lib, self._policy, self._add = lib, policy, add
        self._lock = threading.Lock()
        self._saw_gradient = self._saw_update = False
        self._told = False
        self.current = 0
        self.recording = True
        self._paused = False
        self.began: Callable[[int], None] = lambda step: None  # told of each step but the first
        self._enter(0, "start")

    def _enter(self, step: int, source: str) -> None:
        self.current = step
        self._saw_gradient = self._saw_update = False
        self._lib.set_step(step)
        self._switch()
        produced = self._lib.counters()[0]
        self._add("steps", (step, produced, time.time_ns(), source))

    def _switch(self) -> None:
        self.recording = not self._paused and (self._policy.all_steps or self._policy.wants_step(self.current))
        self._lib.set_recording(self.recording)

    def pause(self, paused: bool) -> None:
        """Between the parts of a program that are recorded, steps go on being counted."""
        self._paused = paused
        self._switch()

    def gradient(self) -> None:
        self._saw_gradient = True

    def update(self) -> None:
        if self._saw_gradient:
            self._saw_update = True

    def forward_begins(self) -> None:
        """A new tape, or a function that takes a gradient."""
        if self._saw_update and not self._told:
            with self._lock:
                is_new = self._saw_update
                if is_new:
                    self._enter(self.current + 1, "found")
            if is_new:
                self.began(self.current)

    def told(self, step: int | None) -> None:
        """The user's own word. The first call names the step that runs now."""
        with self._lock:
            if step is None:
                step = self.current + 1 if self._told else 0
            self._told = True
            self._enter(step, "told")
        self.began(step)
