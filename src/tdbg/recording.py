"""Switches recording on and off from inside a program: enable, disable, watch and step.

A recording has one owner: the program itself, ``tdbg run``, or the parent of a spawned child. What the program says
to a recording that is not its own is passed over, so that the same program runs with and without ``tdbg run``.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tdbg.config import Config, make_config
from tdbg.errors import TdbgError
from tdbg.store.place import check_place, make_room

if TYPE_CHECKING:
    from tdbg.capture.recording import Recording


class _Recording:
    """What is being recorded now; frameworks that are not imported yet are waited for."""

    def __init__(self, config: Config, owner: str) -> None:
        self.config, self.owner = config, owner
        self.shared: Recording | None = None  # by the listeners; there is none before the first
        self.has_said_so = False  # that it is not the program's own
        self.has_ended = False
        self._attaching = threading.Lock()  # two threads may import a framework each at the same time
        self._finder: _ImportFinder | None = None
        self._undo: Callable[[], None] = lambda: None
        self._signal: Any = None

    def start(self) -> None:
        from tdbg.frameworks import FRAMEWORKS

        if self.config.hold_on is not None:
            from tdbg.capture.interrupts import HoldSignal

            self._signal = HoldSignal(self.config.hold_on)
            self._signal.install()
        for framework in FRAMEWORKS:
            if framework in sys.modules:
                self.attach(framework)
        waited_for = {framework for framework in FRAMEWORKS if framework not in sys.modules}
        if waited_for:
            self._finder = _ImportFinder(self, waited_for)
            sys.meta_path.insert(0, self._finder)

    def attach(self, framework: str) -> None:
        from importlib import import_module

        from tdbg.frameworks import FRAMEWORKS

        module = import_module(f"{FRAMEWORKS[framework]}.listener")
        with self._attaching:
            is_first = self.shared is None
            shared = self.shared or _open(self.config, module.versions())
            try:
                shared.listeners.append(module.start(shared))
            except BaseException:
                if is_first:
                    shared.stop()
                raise
            self.shared = shared
            if is_first:
                self._follow(shared)

    def _follow(self, shared: Recording) -> None:
        """Signals and spawned children belong to the recording from here on."""
        from tdbg.capture import children, faults

        if self._signal is not None:
            self._signal.hold = shared.hold
        with faults.guard("following spawned children"):
            config = replace(self.config, output=shared.path, break_on=(), hold_on=None)
            self._undo = children.follow_spawned(config)  # children are not held

    def stop(self, **end: Any) -> None:
        self.has_ended = True
        self._undo()
        if self._signal is not None:
            self._signal.hold = None
            if self.owner != _RUN:  # there the program is at its end, where the signal would kill it
                self._signal.remove()
        if self._finder in sys.meta_path:
            sys.meta_path.remove(self._finder)
        if self.shared is not None:
            self.shared.stop(**end)

    @property
    def path(self) -> Path | None:
        return self.shared.path if self.shared is not None else None


def _open(config: Config, versions: dict[str, str]) -> Recording:
    """The trace begins with the first framework that the program uses."""
    from tdbg import native
    from tdbg.capture import faults
    from tdbg.capture.recorder import Recorder
    from tdbg.capture.recording import Recording

    recorder = Recorder(config, native.events(), versions)
    if not native.AVAILABLE:
        faults.say("the compiled extension is missing, so recording is slower (reinstall tdbg with a C compiler)")
        recorder.note("fallback", "recorded without the compiled extension")
    return Recording(recorder)


class _ImportFinder(importlib.abc.MetaPathFinder):
    """Attaches a listener at the moment its framework's import is done."""

    def __init__(self, recording: _Recording, waited_for: set[str]) -> None:
        self._recording, self._waited_for = recording, waited_for
        self._sought: set[str] = set()  # by this finder itself; another thread may import another framework meanwhile

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name not in self._waited_for or name in self._sought:
            return None
        self._sought.add(name)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._sought.discard(name)
        if spec is not None and spec.loader is not None:
            _after_import(spec.loader, lambda: self._arrived(name))
        return spec

    def _arrived(self, name: str) -> None:
        from tdbg.capture import faults

        self._waited_for.discard(name)
        if not self._waited_for:
            sys.meta_path[:] = [finder for finder in sys.meta_path if finder is not self]
        if self._recording.has_ended:  # while another thread imported
            return
        try:
            self._recording.attach(name)
        except TdbgError as error:
            faults.say(f"{error} (your program continues without being recorded)")
        except Exception as error:
            faults.report(f"attaching to {name}", error)


def _after_import(loader: Any, then: Any) -> None:
    original = loader.exec_module

    def exec_module(module: Any) -> None:
        original(module)
        then()

    loader.exec_module = exec_module


_PROGRAM, _RUN, _PARENT, _TEST = "program", "tdbg run", "parent", "test"
_current: _Recording | None = None
_switch = threading.RLock()  # one thread at a time begins or ends: what each puts into TensorFlow lies on the other's
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_switch._at_fork_reinit)  # type: ignore[attr-defined]


def enable(output: str | os.PathLike | None = None, force: bool = False, **options: Any) -> None:
    """Records from here on. Options are those of ``tdbg run``: mode, ops, names, dtypes, files, steps, every, ring,
    values_when_bad. Functions that were traced before are traced again. ``force`` overwrites an older trace."""
    config = make_config(output=output, **options)
    with _switch:
        end_test()  # the test records itself
        if _current is None:
            if config.output is None:
                check_place(Path.cwd())  # the name will be a new one
            else:
                from tdbg.capture.cluster import member

                task = member()
                make_room(config.output.absolute(), force, "force=True", *(task[:2] if task else ()))
            begin(config, _PROGRAM)
        elif _current.owner == _PROGRAM:
            raise TdbgError("tdbg is already recording; call tdbg.disable() first")
        else:
            pass_over("tdbg.enable()")


def is_not_ours() -> bool:
    """Whether somebody else records this process: ``tdbg run``, or the parent that spawned it."""
    return _current is not None and _current.owner != _PROGRAM


def pass_over(what: str) -> None:
    """Says, once, that the program's own word does not count under ``tdbg run``."""
    if _current is not None and _current.owner == _RUN and not _current.has_said_so:
        from tdbg.capture import faults

        _current.has_said_so = True
        faults.say(f"tdbg run is already recording this program with its own options; this {what} is ignored")


def is_recording() -> bool:
    return _current is not None


def pause(paused: bool = True) -> None:
    """Leaves out what runs from here on, until ``pause(False)``; functions stay as they are."""
    if _current is not None and _current.shared is not None:
        _current.shared.steps.pause(paused)


def bad_events() -> int:
    """How many tensors with NaN or infinity were seen so far: cheap to ask while the program runs."""
    return _current.shared.lib.bad_events() if _current is not None and _current.shared is not None else 0


def flush() -> None:
    """Returns when everything recorded so far is on disk."""
    if _current is not None and _current.shared is not None:
        _current.shared.recorder.flush()


def disable() -> Path | None:
    """Stops recording and returns the trace's path; the program is as it was before enable()."""
    with _switch:
        if _current is not None and _current.owner == _TEST:
            return None
        if is_not_ours():
            flush()
            return current_path()
        return end_recording()


def begin(config: Config, owner: str) -> None:
    """Begins the recording of this process, which has none."""
    global _current
    with _switch:
        recording = _Recording(config, owner)
        try:
            recording.start()
        except BaseException:
            recording.stop()  # one framework may be listened to already
            raise
        _current = recording


def begin_run(options: dict[str, Any]) -> None:
    """For ``tdbg run``: a recording that the program cannot end."""
    begin(make_config(**options), _RUN)


def begin_test(config: Config) -> None:
    """For the pytest plugin: a recording that makes way as soon as the test begins one of its own."""
    begin(config, _TEST)


def end_test() -> None:
    """Ends the recording of a test, if it is still there."""
    if _current is not None and _current.owner == _TEST:
        end_recording()


def follow_parent(options: dict[str, Any]) -> None:
    """In a spawned child of a recorded program: its part of the same trace."""
    from tdbg.capture import faults

    with faults.guard("following the parent"):
        if _current is None:
            begin(make_config(**options), _PARENT)


def end_recording(**end: Any) -> Path | None:
    """Ends the recording, whoever owns it; ``end`` is written into the trace."""
    global _current
    with _switch:
        if _current is None:
            return None
        recording, _current = _current, None
        recording.stop(**end)
    return recording.path


@contextlib.contextmanager
def watch(output: str | os.PathLike | None = None, force: bool = False, **options: Any) -> Iterator[None]:
    """Records what runs inside the ``with`` block."""
    enable(output, force, **options)
    try:
        yield
    finally:
        disable()


def step(number: int | None = None) -> None:
    """Says that a training step begins: the next one, or the given number. Without it steps are found by themselves."""
    if _current is not None and _current.shared is not None:
        _current.shared.steps.told(number)


def breakpoint() -> None:
    """Holds the program here, at tdbg's prompt, with the tensors among the local variables. In a ``tf.function`` it is
    held whenever the function runs past this place."""
    from tdbg.capture import faults

    if _current is not None and _current.shared is not None:
        with faults.guard("holding the program at a breakpoint"):
            _current.shared.breakpoint(sys._getframe(1))
    elif _current is None and not _said_at:
        _said_at.append(True)
        faults.say("tdbg.breakpoint() is ignored: tdbg is off (start it with tdbg run, or tdbg.enable())")


breakpoint.autograph_info__ = {}  # type: ignore[attr-defined]  # AutoGraph calls it as it is, without converting it
_said_at: list[bool] = []


def current_path() -> Path | None:
    """Where the running recording goes, None when there is none or no framework was used yet."""
    return _current.path if _current is not None else None


def open_trace(path: str | os.PathLike) -> Any:
    """A recorded trace, to query from Python."""
    from tdbg.query.trace.trace import Trace

    return Trace.open(Path(path))
