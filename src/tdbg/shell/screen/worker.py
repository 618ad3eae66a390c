"""Does the jobs of the screen (commands, pages of rows, completions) one after another, on a thread that may be slow.

A scene is asked from this thread only: its readers need no locks, and the screen never waits for them.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from tdbg.store.sql import interrupt_queries


class Stopped(Exception):
    """Raised when the job was interrupted."""


class Worker:
    """Runs one job after another; those that somebody waits for before those that only look ahead."""

    def __init__(self) -> None:
        self._jobs: deque[tuple[Future, Callable[[], Any]]] = deque()
        self._changed = threading.Condition()
        self._running: Future | None = None
        self._running_changes = threading.Lock()  # not a condition: what interrupts must not find it half entered
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
        """Ends a job as Ctrl-C would: at once when it waits or asks DuckDB, else at its next Python instruction."""
        with self._running_changes:
            if future is self._running:
                self._raise(KeyboardInterrupt)
                interrupt_queries()
            else:
                future.cancel()

    def close(self) -> None:
        """Takes no more jobs. One that cannot be interrupted ends by itself, on its daemon thread."""
        with self._changed:
            self._is_closed = True
            for future, _ in self._jobs:
                future.cancel()
            self._jobs.clear()
            self._changed.notify()
        running = self._running
        if running is not None:
            self.interrupt(running)

    def _run(self) -> None:
        while (found := self._wait()) is not None:
            future, job = found
            if future.set_running_or_notify_cancel():
                self._do(future, job)

    def _wait(self) -> tuple[Future, Callable[[], Any]] | None:
        with self._changed:
            while not self._jobs:
                if self._is_closed:
                    return None
                self._changed.wait()
            return self._jobs.popleft()

    def _do(self, future: Future, job: Callable[[], Any]) -> None:
        """Does a job. An interrupt may come at any place between the two changes of ``_running``, and at no other."""
        outcome: Any = None
        failure: BaseException | None = None
        try:
            self._running = future
            outcome = job()
        except BaseException as error:
            failure = error
        while self._running is not None:
            try:
                with self._running_changes:
                    self._raise(None)  # one that is on its way is taken back
                    self._running = None
            except KeyboardInterrupt as error:
                failure = error
        if failure is not None:
            future.set_exception(Stopped() if isinstance(failure, KeyboardInterrupt) else failure)
        else:
            future.set_result(outcome)

    def _raise(self, error: type[BaseException] | None) -> None:
        """Raises in the thread, at its next instruction; None takes back what has not come yet."""
        raised = None if error is None else ctypes.py_object(error)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident or 0), raised)
