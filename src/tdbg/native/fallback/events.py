"""Opens the ring, empties it and counts what went through it."""

from __future__ import annotations

from tdbg.native.fallback.calls import forget_open_calls
from tdbg.native.fallback.kept_values import values
from tdbg.native.fallback.ring import BoundedRing, FileRing
from tdbg.native.fallback.shapes import shapes
from tdbg.native.fallback.switches import now


def ring_open(capacity: int, file: str | None, block: bool) -> None:
    now.ring = FileRing(capacity, file) if file is not None else BoundedRing(capacity, bool(block))
    values.dropped = 0
    now.bad_events = 0


def ring_drain(most: int) -> bytes:
    return now.ring.drain(most) if now.ring is not None else b""


def counters() -> tuple[int, int, int, int, int]:
    """Events produced and dropped, values dropped, times a producer waited, events pending."""
    if now.ring is None:
        return 0, 0, 0, 0, 0
    return now.ring.produced, now.ring.dropped, values.dropped, now.ring.waits, now.ring.pending


def bad_events() -> int:
    """Tensors with NaN or infinity since the ring was opened: a cheap sign, for whoever watches while it runs."""
    return now.bad_events


def after_fork() -> None:
    """In a child: forgets everything that belonged to the parent."""
    if now.ring is not None:
        now.ring.after_fork()
    values.forget()
    shapes.after_fork()
    forget_open_calls()
    now.recording = False
