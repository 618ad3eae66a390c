"""A served trace that many ask at once."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from hostile_trace import write_trace
from tdbg.query.trace import Trace
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
