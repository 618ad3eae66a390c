"""A served trace that many ask at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest

from hostile_trace import write_trace
from tdbg.query.trace.trace import Trace
from tdbg.store.writer import TraceWriter
from tdbg.web import traces
from tdbg.web.traces import ServedTrace


class _Paused(ServedTrace):
    """Whoever opens it lets others have their turn first, except for one thread."""

    hasty: threading.Thread

    def open(self) -> Trace:
        if threading.current_thread() is not self.hasty:
            time.sleep(0.05)
        return super().open()


def test_questions_do_not_wait_for_each_other_for_ever(tmp_path: Path) -> None:
    """One asks for the process while it holds the lock, another one without it."""
    trace = _Paused("t", write_trace(tmp_path / "t.tdbg"))

    def ask_with_lock() -> None:
        time.sleep(0.075)
        with trace.lock:
            trace.process(None)

    trace.hasty = threading.Thread(target=ask_with_lock, daemon=True)
    other = threading.Thread(target=trace.process, args=(None,), daemon=True)
    other.start()
    trace.hasty.start()
    for thread in (other, trace.hasty):
        thread.join(30)
        assert not thread.is_alive()


def test_a_trace_that_does_not_grow_keeps_its_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(traces, "_LOOK_AGAIN", 0.0)
    writer = TraceWriter(tmp_path / "t.tdbg", {"argv": ["train.py"], "rank": 0, "mode": "none"})
    writer.append("steps", {"step": [0], "seq": [0], "time": [0], "source": ["user"]})
    writer.flush()
    trace = ServedTrace("t", tmp_path / "t.tdbg")
    made = []

    def ask() -> int:
        trace.refresh()
        trace.kept("answer", lambda: made.append(trace.version))
        return trace.version

    assert ask() == ask()
    writer.close({"status": 0})
    assert ask() == 2
    for _ in range(3):
        assert ask() == 2
    assert made == [1, 2]
