"""Tells what was asked of a moment of a trace, what it was fed, and how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from tdbg.query.scene.moments import BLIND_MODES, Moments, count
from tdbg.query.trace.session_runs import Asked
from tdbg.query.trace.trace import Trace
from tdbg.scene import Moment, RunInfo, Seen


class Feeds(Mapping[str, Any]):
    """Values that were fed, by tensor name; a value is read when it is asked for, and TdbgError when it was not
    recorded."""

    def __init__(
        self, names: Sequence[str], seen: Callable[[str], Sequence[Seen]], value: Callable[[Seen], Any]
    ) -> None:
        self._names, self._seen, self._value = list(names), seen, value

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        found = self._seen(name)
        return self._value(found[0])


def run_info(trace: Trace, process: int, moments: Moments, moment: Moment | None) -> RunInfo:
    info = trace.processes[process].info
    facts = {"mode": str(info.get("mode", "unknown"))}
    if info.get("argv"):
        facts["program"] = " ".join(map(str, info["argv"]))
    if moment is None:
        found = count(len(moments.numbers()), moments.kind)
        return RunInfo(f"{trace.path.name}: {found}", facts=facts | _counts(moments.rows, moments.bad, info))
    facts |= _counts(moment.tensors, moment.bad, info)
    run = moments.runs.get(moment.number)
    if run is None:
        return RunInfo(moment.title, facts=facts)
    asked = moments.asked.get(run.graph, Asked([], [], []))
    if not run.has_ended:
        facts["state"] = "it has not ended, or the program was killed during it"
    error = run.error.splitlines() if run.error else []
    return RunInfo(moment.title, asked.fetches, asked.targets, asked.feeds, error, facts)


def _counts(tensors: int, bad: int, info: Mapping[str, Any]) -> dict[str, str]:
    was_looked_for = info.get("mode") not in BLIND_MODES
    return {"tensors": f"{tensors:,}", "with NaN or infinity": f"{bad:,}" if was_looked_for else "not looked for"}
