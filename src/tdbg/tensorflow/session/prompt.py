"""What the debugger asks the user around a run(), and what can be answered: RunStart and RunEnd in, an Action out.

A prompt is any object with these two methods; ``LocalCLIDebugWrapperSession`` keeps count of runs, filters and dumps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tdbg.capture.control import Action, Kind
from tdbg.tensorflow.session.dump_dir import DebugDumpDir

__all__ = ["Action", "Filter", "Kind", "Prompt", "RunEnd", "RunStart"]

Filter = Callable[[Any, Any], Any]  # of a DebugTensorDatum and its tensor


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
