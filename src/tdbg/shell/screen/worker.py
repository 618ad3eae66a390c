"""Jobs of the screen in (commands, pages of rows, completions); their results out, from one thread that may be slow.

A scene is asked from this thread only: its readers need no locks, and the screen never waits for them.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any


class Stopped(Exception):
    """The job was interrupted."""


class Worker:
    """Runs one job after another; those that somebody waits for before those that only look ahead."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Future, Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._running: Future | None = None
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="tdbg-screen-worker", daemon=True)
        self._thread.start()

    def submit(self, job: Callable[[], Any], first: bool = False) -> Future:
        future: Future = Future()
        with self._changed:
            if self._is_closed:
                future.cancel()
                return future
            if first:
                self._jobs.appendleft((future, job))
            else:
                self._jobs.append((future, job))
            self._changed.notify()
        return future

    def interrupt(self, future: Future) -> None:
        """Ends a job as Ctrl-C would: at once when it waits, at its next Python instruction when it runs."""
        with self._changed:
            if future is not self._running:
                future.cancel()
            else:
                _raise_in(self._thread, KeyboardInterrupt)

    def close(self) -> None:
        """No more jobs. One that cannot be interrupted ends by itself, on its daemon thread."""
        with self._changed:
            self._is_closed = True
            for future, _ in self._jobs:
                future.cancel()
            self._jobs.clear()
            if self._running is not None:
                _raise_in(self._thread, KeyboardInterrupt)
            self._changed.notify()

    def _run(self) -> None:
        while True:
            try:
                if not self._next():
                    return
            except KeyboardInterrupt:
                continue  # it came when its job had just ended

    def _next(self) -> bool:
        with self._changed:
            while not self._jobs:
                if self._is_closed:
                    return False
                self._changed.wait()
            future, job = self._jobs.popleft()
            if not future.set_running_or_notify_cancel():
                return True
            self._running = future
        try:
            outcome = job()
        except BaseException as error:
            self._end(future)
            future.set_exception(Stopped() if isinstance(error, KeyboardInterrupt) else error)
        else:
            self._end(future)
            future.set_result(outcome)
        return True

    def _end(self, future: Future) -> None:
        with self._changed:
            self._running = None


def _raise_in(thread: threading.Thread, error: type[BaseException]) -> None:
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread.ident or 0), ctypes.py_object(error))
