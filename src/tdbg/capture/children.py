"""Follows children of multiprocessing: ends a recording with its child, and begins it again in a spawned one.

Forked children are followed by the listener's at-fork hooks. This file knows what multiprocessing does beside that:
it ends a child without running ``atexit``, and starts others as fresh programs.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Callable
from typing import Any, Protocol

from tdbg.config import Config

_LAST = -1_000_000  # after the queues of the child have been written out


class Stops(Protocol):
    def stop(self) -> None: ...


def end_with_child(recorder: Stops) -> None:
    """Stops the recorder when a child of multiprocessing ends: such a one leaves through ``os._exit``."""
    util = sys.modules.get("multiprocessing.util")
    if util is None:
        return
    util.register_after_fork(recorder, _stop_at_end)  # a child that begins forgets what was to be done at the end
    if is_child():
        _stop_at_end(recorder)


def is_child() -> bool:
    """Whether multiprocessing started this process."""
    process = sys.modules.get("multiprocessing.process")
    return process is not None and process.parent_process() is not None


def _stop_at_end(recorder: Stops) -> None:
    sys.modules["multiprocessing.util"].Finalize(None, recorder.stop, exitpriority=_LAST)


def follow_spawned(config: Config) -> Callable[[], None]:
    """Children that multiprocessing starts as new programs record too, as ``config`` says; returns how to undo it."""
    from multiprocessing import spawn

    theirs = spawn.get_preparation_data
    options = dataclasses.asdict(config) | {"mode": config.mode.label, "output": str(config.output)}

    def get_preparation_data(name: str) -> dict[str, Any]:
        return theirs(name) | {"tdbg": _Begin(options)}

    def undo() -> None:
        if spawn.get_preparation_data is get_preparation_data:
            spawn.get_preparation_data = theirs

    spawn.get_preparation_data = get_preparation_data
    return undo


class _Begin:
    """Travels among the data that a spawned child is given; unpickled there, it has begun the recording.

    What is pickled is plain text: a child whose Python has no tdbg must not fail.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options

    def __reduce__(self) -> tuple[Any, tuple]:
        code = "try:\n import tdbg.recording as r\nexcept ImportError:\n pass\nelse:\n r.follow_parent(options)"
        return exec, (code, {"options": self._options})
