"""Asks the person at the prompt what a held program does next. The one place where it can be held.

The prompt is a surface, and what it shows is read from the trace. Both import capture or what it writes, not the other
way round: so they are looked up by name, here only.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tdbg.scene import Scene

UI_TYPES = ("curses", "readline", "screen")  # curses is tfdbg's word for a full screen


class Kind(StrEnum):
    """RUN as the rest of the Action says; EXIT the program; DETACH: go on without the debugger."""

    RUN = "run"
    EXIT = "exit"
    DETACH = "detach"


@dataclass(frozen=True)
class Action:
    """What to do with the next run (of a Session) or step (of a training loop), and those after it."""

    kind: Kind = Kind.RUN
    debug: bool = True
    times: int = 1  # this many runs, of which only the last is debugged
    until_filter: str = ""  # go on until a tensor passes this filter, or meets this expression
    exclude_nodes: str = ""  # nodes for the filter to ignore
    node_name_filter: str | None = None
    op_type_filter: str | None = None
    tensor_dtype_filter: str | None = None
    profile: bool = False


@dataclass(frozen=True)
class Pause:
    """Where a program is held. ``first``: the command whose result is shown first (``run_info``, ``lt -f …``)."""

    kind: str  # run-start, run-end, breakpoint, condition
    headline: str  # "run-end: run #4: 1 fetch (train); 2 feeds"
    scene: Scene
    first: str = "run_info"
    lines: Sequence[str] = ()  # said before it: an error, the tensor that met the condition, the stack


class Prompt(Protocol):
    def ask(self, pause: Pause) -> Action: ...


def prompt(ui_type: str = "screen", config_file_path: Any = None) -> Prompt:
    """``screen`` (or ``curses``) where there is a terminal, else lines."""
    return import_module("tdbg.shell.prompts").make(ui_type, config_file_path)


def scene_at(trace: Path, pid: int, step: int) -> Scene:
    """What the trace of a running program shows of the step where it is."""
    return import_module("tdbg.query.scene.live_scene").scene_at(trace, pid, step)


class Conditions(Protocol):
    """Those that hold the program that is held now; the prompt's ``break`` changes them."""

    @property
    def all(self) -> Sequence[Any]: ...

    def add(self, text: str) -> Any: ...

    def remove(self, number: int) -> Any: ...


_conditions: list[Conditions] = []


@contextlib.contextmanager
def held(conditions: Conditions) -> Iterator[None]:
    """While a prompt is open for a program that conditions can hold."""
    _conditions.append(conditions)
    try:
        yield
    finally:
        _conditions.remove(conditions)


def conditions() -> Conditions | None:
    """None when no program is held, or it is not held by conditions."""
    return _conditions[-1] if _conditions else None
