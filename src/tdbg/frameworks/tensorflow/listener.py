"""Listens to TensorFlow in this process: records it, or only checks it for bad values."""

from __future__ import annotations

import os
import sys
import threading
from types import FrameType

import tensorflow as tf

from tdbg import native
from tdbg.capture.bad_value import Limits
from tdbg.capture.recording import Recording
from tdbg.capture.silent_recorder import SilentRecorder
from tdbg.config import Config
from tdbg.frameworks.tensorflow.capture.ops import Capture


class Listener:
    """What a recording, or a check alone, sees of TensorFlow."""

    def __init__(self, recording: Recording) -> None:
        self._recording = recording
        limits = _asked or (Limits() if recording.config.check else None)
        self._capture = Capture(recording, limits)
        self._capture.start()

    def check(self) -> None:
        """What the program asks of its check has changed."""
        self._capture.check(_asked or (Limits() if self._recording.config.check else None))

    def narrowed(self) -> None:
        self._capture.narrowed()

    def breakpoint(self, frame: FrameType) -> bool:
        self._capture.breakpoint(frame)
        return True

    def ended(self) -> None:
        """What the program asked to be checked still is."""
        if self._recording.path is not None:
            with _switch:
                _check_alone()

    def after_fork(self) -> None:
        self._capture.after_fork()

    def stop(self) -> None:
        with _switch:
            _running[:] = [other for other in _running if other is not self]
            self._capture.stop()


_asked: Limits | None = None  # enable_check_numerics() was called, with these
_running: list[Listener] = []
_alone: list[Recording] = []  # of a process that is checked and not recorded
_switch = threading.RLock()  # one thread at a time puts something into TensorFlow or takes it out
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_switch._at_fork_reinit)  # type: ignore[attr-defined]


def start(recording: Recording) -> Listener:
    with _switch:
        _stop_alone()  # one capture at a time: the recording's checks too
        try:
            listener = Listener(recording)
        except BaseException:
            _check_alone()
            raise
        _running.append(listener)
        return listener


def check(limits: Limits | None) -> None:
    """Stops the program at the first bad value from here on; None: no longer. Recorded or not."""
    global _asked
    with _switch:
        _asked = limits
        if limits is None:
            _stop_alone()
        for one in list(_running):
            one.check()
        _check_alone()


def _check_alone() -> None:
    if _asked is not None and not _running:
        recording = Recording(SilentRecorder(Config(check=True, last_step=0), native.events()))
        listener = Listener(recording)
        recording.listeners.append(listener)
        _running.append(listener)
        _alone.append(recording)


def _stop_alone() -> None:
    while _alone:
        _alone.pop().stop()


def versions() -> dict[str, str]:
    """Of the libraries that this folder listens to."""
    found = {"tensorflow": tf.__version__}
    keras = sys.modules.get("keras")
    if keras is not None:
        found["keras"] = getattr(keras, "__version__", "?")
    return found
