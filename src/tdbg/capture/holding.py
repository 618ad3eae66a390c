"""Holds the program for whatever reason: a condition, a breakpoint, a step that begins, Ctrl-C or a signal."""

from __future__ import annotations

from collections.abc import Callable

from tdbg.capture.bad_value import Limits, stack_lines
from tdbg.capture.breaks import Breaks
from tdbg.capture.control import Action
from tdbg.capture.hold import Held, Holder
from tdbg.capture.interrupts import Interrupts
from tdbg.capture.policy import Policy
from tdbg.capture.recorder import Recorder
from tdbg.capture.source import Sources
from tdbg.capture.steps import Steps


class Holding:
    """The breaks of one recording. Listeners add to ``changed`` what they do when other conditions count."""

    def __init__(
        self, recorder: Recorder, policy: Policy, steps: Steps, sources: Sources, narrowed: Callable[[], None]
    ) -> None:
        self._lib, self._policy, self._steps, self._sources = recorder.lib, policy, steps, sources
        self._narrowed = narrowed
        self.breaks = Breaks(recorder.config.break_on)
        self.holder = Holder(self.breaks, recorder.path, recorder.flush, recorder.note, self._watch)
        self.interrupts = Interrupts(self.holder, lambda: steps.current, self._interrupted)
        self.changed: list[Callable[[], None]] = []
        self._has_breakpoints = False
        self.breaks.changed = self.apply
        steps.began = self.step_begins

    def apply(self) -> None:
        """Other conditions count from here on."""
        self.interrupts.set((bool(self.breaks.all) or self._has_breakpoints) and not self.breaks.is_detached)
        for then in self.changed:
            then()

    def stop(self) -> None:
        """Before listeners stop: a person at the prompt of another thread may still add a condition, which must not
        reach what they have put away by then."""
        self.interrupts.set(False)
        self.breaks.changed = lambda: None

    def wait(self) -> None:
        """Until no other thread is held."""
        self.holder.wait()

    def breakpoint_reached(self) -> None:
        """The program calls ``tdbg.breakpoint()``: a person debugs it, who may want to hold it elsewhere, too."""
        if not self._has_breakpoints:
            self._has_breakpoints = True
            self.interrupts.set(not self.breaks.is_detached)

    def step_begins(self, step: int) -> None:
        """May hold the program, or end it."""
        if self.breaks.begins(step):
            self.holder.hold(step, lambda: Held("step", f"step {step} begins", self._here(), first="run_info"))
        self.holder.leave()

    def _interrupted(self) -> Held:
        """Ctrl-C, or another signal: where the program is."""
        headline = f"interrupted, step {self._steps.current}; run continues, exit ends the program"
        return Held("interrupt", headline, self._here(), first="run_info")

    def _here(self) -> list[str]:
        return stack_lines(self._sources.user_frames(self._lib.stack_here(0)), Limits())

    def _watch(self, action: Action) -> None:
        """What the person at the prompt wants to be recorded from here on."""
        if self._policy.narrow(action.op_type_filter, action.node_name_filter, action.tensor_dtype_filter):
            self._narrowed()
