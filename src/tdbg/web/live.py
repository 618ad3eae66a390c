"""Sends events while programs write their traces: a trace came, grew, held new bad values, ended."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from tdbg.errors import TdbgError
from tdbg.strict_json import to_json
from tdbg.web.route import Answer, Asked, Refused, Route
from tdbg.web.traces import ServedTrace, Traces

_PAUSE = 0.7  # seconds between two looks
_QUIET = 15.0  # after so long a sign of life
_MOST_LISTENERS = 24

State = dict[str, dict[str, Any]]


class Listeners:
    """Counts how many listen at once: each has a thread."""

    def __init__(self) -> None:
        self._free = threading.Semaphore(_MOST_LISTENERS)

    def events(self, asked: Asked) -> Answer:
        if not self._free.acquire(blocking=False):
            raise Refused(503, "too many pages are open already", "close some of them")
        return Answer(self._stream(asked.traces), "text/event-stream", headers={"X-Accel-Buffering": "no"})

    def _stream(self, traces: Traces) -> Iterator[bytes]:
        try:
            yield b"retry: 2000\n\n"
            yield from changes(traces, time.sleep)
        finally:
            self._free.release()


def changes(traces: Traces, pause: Callable[[float], None]) -> Iterator[bytes]:
    """Gives events for ever; the first one says how things are."""
    known = state_of(traces)
    yield _event("traces", {"traces": list(known.values())})
    said = time.monotonic()
    while True:
        pause(_PAUSE)
        now = state_of(traces)
        if _listed(now) != _listed(known):
            yield _event("traces", {"traces": list(now.values())})
        for name, state in now.items():
            before = known.get(name, state)
            if state != before:
                yield from _difference(before, state)
                said = time.monotonic()
        if time.monotonic() - said > _QUIET:
            yield b": still here\n\n"
            said = time.monotonic()
        known = now


def _listed(state: State) -> set[tuple[str, bool]]:
    """Tells which traces are listed, and which are still starting: those become readable later."""
    return {(name, one["is_starting"]) for name, one in state.items()}


def _difference(before: dict[str, Any], state: dict[str, Any]) -> Iterator[bytes]:
    if state["rows"] != before["rows"] or state["version"] != before["version"]:
        yield _event("grew", state)
    if state["bad"] > before["bad"]:
        yield _event("bad", state)
    if before["live"] and not state["live"]:
        yield _event("ended", state)


def state_of(traces: Traces) -> State:
    traces.look()
    return {trace.id: _state(trace) for trace in traces.all()}


def _state(trace: ServedTrace) -> dict[str, Any]:
    state: dict[str, Any] = {"id": trace.id, "version": trace.version, "rows": 0, "bad": 0, "live": False}
    with contextlib.suppress(TdbgError, OSError):
        trace.refresh()
        state |= trace.counted()
    state["is_starting"] = trace.is_starting
    return state


def _event(name: str, data: dict[str, Any]) -> bytes:
    return f"event: {name}\ndata: {to_json(data)}\n\n".encode()


_LISTENERS = Listeners()

ROUTES = (
    Route("/api/events", "Server-sent events: traces, grew, bad, ended", _LISTENERS.events, kind="text/event-stream"),
)
