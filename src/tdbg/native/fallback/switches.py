"""Holds what is on, as Python sets it."""

from __future__ import annotations

from dataclasses import dataclass

from tdbg.model import Mode
from tdbg.native.fallback.kept_values import values
from tdbg.native.fallback.ring import Ring


@dataclass(slots=True)
class Switches:
    mode: int = Mode.NUMERICS
    recording: bool = False
    first_op: int = 0
    step: int = 0
    values_when_bad: bool = True
    check: bool = False
    bad_events: int = 0
    ring: Ring | None = None


now = Switches()


def set_mode(mode: int, values_when_bad: int, queue_bytes: int, bad_bytes: int, kept_per_op: int) -> None:
    now.mode, now.values_when_bad = mode, bool(values_when_bad)
    values.set_limits(queue_bytes, bad_bytes, kept_per_op)


def set_recording(on: bool) -> None:
    now.recording = bool(on)


def set_first_op(op: int) -> None:
    """Observers of ops before it belong to an earlier recording."""
    now.first_op = op


def set_step(step: int) -> None:
    now.step = step
