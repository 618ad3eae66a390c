"""What the debugger asks the user around a run(), and what can be answered: RunStart and RunEnd in, an Action out.

A prompt is any object with these two methods; ``LocalCLIDebugWrapperSession`` keeps count of runs, filters and dumps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from tdbg.tensorflow.session.dump_dir import DebugDumpDir

Filter = Callable[[Any, Any], Any]  # of a DebugTensorDatum and its tensor


class Kind(StrEnum):
    """RUN as the rest of the Action says; EXIT the program; DETACH: go on without the debugger."""

    RUN = "run"
    EXIT = "exit"
    DETACH = "detach"


@dataclass(frozen=True)
class Action:
    """What to do with the next run and those after it."""

    kind: Kind = Kind.RUN
    debug: bool = True
    times: int = 1  # this many runs, of which only the last is debugged
    until_filter: str = ""  # go on until a tensor passes this filter
    exclude_nodes: str = ""  # nodes that the filter does not look at
    node_name_filter: str | None = None
    op_type_filter: str | None = None
    tensor_dtype_filter: str | None = None
    profile: bool = False


@dataclass(frozen=True)
class RunStart:
    """A run that is about to begin."""

    number: int
    description: str
    fetches: list[str]
    feeds: Mapping[str, Any]
    filters: Mapping[str, Filter]


@dataclass(frozen=True)
class RunEnd:
    """A run that has ended. Without a dump it was not debugged; ``passed_filter`` is what ``until_filter`` waited
    for."""

    start: RunStart
    graph: Any  # the tf.Graph
    dump: DebugDumpDir | None = None
    error: Any = None  # a tf.errors.OpError
    passed_filter: str = ""
    exclude_nodes: str = ""
    profile: Any = None  # a RunMetadata with step_stats


class Prompt(Protocol):
    """Asks the user. What run_end gives is done with the next run, without asking again before it."""

    def run_start(self, info: RunStart) -> Action: ...

    def run_end(self, info: RunEnd) -> Action: ...
