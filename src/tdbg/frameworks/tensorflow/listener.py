"""Config in, a running recording of this TensorFlow process out: puts capture and recorder together."""

from __future__ import annotations

import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

import tensorflow as tf

from tdbg import native
from tdbg.capture import faults
from tdbg.capture.bad_value import Limits
from tdbg.capture.recorder import Recorder
from tdbg.capture.silent_recorder import SilentRecorder
from tdbg.config import Config
from tdbg.frameworks.tensorflow.capture.ops import Capture


class Listener:
    """Recorder and capture of one process; a forked child gets its own part of the same trace."""

    def __init__(self, config: Config) -> None:
        lib = native.events()
        self._recorder = Recorder(config, lib, versions())
        self._capture = Capture(self._recorder, self._limits())
        self._capture.start()
        if not native.AVAILABLE:
            faults.say("the compiled extension is missing, so recording is slower (reinstall tdbg with a C compiler)")
            self._recorder.note("fallback", "recorded without the compiled extension")

    def _limits(self) -> Limits | None:
        return _asked or (Limits() if self._recorder.config.check else None)

    def check(self) -> None:
        """What the program asks of its check has changed."""
        self._capture.check(self._limits())

    @property
    def path(self) -> Path:
        return self._recorder.path

    def step(self, number: int | None) -> None:
        self._capture.steps.told(number)

    def pause(self, paused: bool) -> None:
        self._capture.steps.pause(paused)

    def breakpoint(self, frame: FrameType) -> None:
        self._capture.breakpoint(frame)

    def hold(self, frame: FrameType | None) -> None:
        self._capture.hold(frame)

    def bad_events(self) -> int:
        return self._recorder.lib.bad_events()

    def stop(self, **end: Any) -> None:
        with _switch:
            _running[:] = [other for other in _running if other is not self]
            with faults.guard("switching off"):
                self._capture.stop()
            self._recorder.stop(**end)
            _check_alone()

    def flush(self) -> None:
        self._recorder.flush()

    def before_fork(self) -> None:
        self._recorder.hold()

    def after_fork_in_parent(self) -> None:
        self._recorder.release()

    def after_fork_in_child(self) -> None:
        with faults.guard("following a fork"):
            self._capture.after_fork()
            self._recorder.restart_after_fork()
            self._recorder.lib.set_recording(self._capture.steps.recording)


class CheckAlone:
    """The capture of a process that is checked and not recorded."""

    def __init__(self, limits: Limits) -> None:
        self._capture = Capture(SilentRecorder(Config(check=True, last_step=0), native.events()), limits)
        self._capture.start()

    def check(self) -> None:
        self._capture.check(_asked)

    def stop(self) -> None:
        _running[:] = [other for other in _running if other is not self]
        with faults.guard("switching off"):
            self._capture.stop()

    def before_fork(self) -> None:
        pass

    def after_fork_in_parent(self) -> None:
        pass

    def after_fork_in_child(self) -> None:
        with faults.guard("following a fork"):
            self._capture.after_fork()


_asked: Limits | None = None  # enable_check_numerics() was called, with these
_running: list[Listener | CheckAlone] = []
_switch = threading.RLock()  # one thread at a time puts something into TensorFlow or takes it out
_held: list[Listener | CheckAlone] = []  # wait for a fork to be over; another thread may stop one meanwhile


def _before_fork() -> None:
    for listener in list(_running):
        listener.before_fork()
        _held.append(listener)


def _after_fork(method: str) -> None:
    listeners = _held[:]
    _held.clear()
    for listener in listeners:
        getattr(listener, method)()


os.register_at_fork(
    before=_before_fork,
    after_in_parent=lambda: _after_fork("after_fork_in_parent"),
    after_in_child=lambda: _after_fork("after_fork_in_child"),
)
os.register_at_fork(after_in_child=_switch._at_fork_reinit)  # type: ignore[attr-defined]


def start(config: Config) -> Listener:
    with _switch:
        for alone in [one for one in _running if isinstance(one, CheckAlone)]:
            alone.stop()  # one capture at a time: the recording's checks too
        try:
            listener = Listener(config)
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
        for one in list(_running):
            if limits is None and isinstance(one, CheckAlone):
                one.stop()
            else:
                one.check()
        _check_alone()


def _check_alone() -> None:
    if _asked is not None and not _running:
        _running.append(CheckAlone(_asked))


def versions() -> dict[str, str]:
    """Of the libraries that this folder listens to."""
    found = {"tensorflow": tf.__version__}
    keras = sys.modules.get("keras")
    if keras is not None:
        found["keras"] = getattr(keras, "__version__", "?")
    return found
