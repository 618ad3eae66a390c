"""Tells what a trace is: of which program and processes, how much of it there is, what is missing."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.evidence import count_tensors
from tdbg.query.trace.trace import Trace
from tdbg.store.process import ProcessInfo

_MOST_STRETCHES = 5000  # of runs
_SILENCE = 600  # seconds after which a program of another machine is taken to have ended


def overview(trace: Trace, read: SceneCache) -> dict[str, Any]:
    """Describes a trace. ``read`` is the process whose moments are counted. Of rows only flags are read, where there
    may be evidence."""
    steps = trace.rollup("steps")
    numbers = list(read.moments.numbers())
    first = trace.processes[read.process]
    return {
        "name": trace.path.name,
        "argv": list(first.info.get("argv") or []),
        "mode": str(first.info.get("mode", "")),
        "live": is_live(trace),
        "process": read.process,
        "processes": [_process(process) for process in trace.processes],
        "moments": {
            "kind": read.moments.kind,
            "first": min(numbers, default=None),
            "last": max(numbers, default=None),
            "count": len(numbers),
            "runs": _runs(read),
        },
        "rows": count_tensors(trace),
        "executions": trace.row_count("executions"),
        "bad": int(steps["bad"].to_numpy().sum()),
        "first_bad_seq": read.moments.first_bad_seq,
        "size": trace.size_bytes(),
        "notes": notes(trace),
    }


def _runs(read: SceneCache) -> list[dict[str, int]]:
    """Tells which execution is which run of a Session, in stretches in which both count on, of which there are few."""
    found: list[dict[str, int]] = []
    for run in read.moments.runs.values():
        last = found[-1] if found else None
        if last and (last["execution"] + last["count"], last["run"] + last["count"]) == (run.execution, run.number):
            last["count"] += 1
        elif len(found) < _MOST_STRETCHES:
            found.append({"execution": run.execution, "run": run.number, "count": 1})
    return found


def is_live(trace: Trace) -> bool:
    """Tells whether a program may still write to it. Of one on another machine only its files can tell."""
    return any(
        process.state == "running" or (process.state == "unknown" and _is_fresh(process.folder))
        for process in trace.processes
    )


def _is_fresh(folder: Path) -> bool:
    try:
        latest = max((file.lstat().st_mtime for file in folder.iterdir()), default=0.0)
    except OSError:
        return False
    return time.time() - latest < _SILENCE


def notes(trace: Trace) -> list[dict[str, Any]]:
    """Tells what was left out while recording; notes of one kind and text are told as one."""
    together: dict[tuple[str, str], int] = {}
    for row in trace.table("notes", ["kind", "text", "count"]).to_pylist():
        key = (row["kind"], row["text"])
        together[key] = together.get(key, 0) + row["count"]
    return [{"kind": kind, "text": text, "count": count} for (kind, text), count in together.items()]


def _process(process: ProcessInfo) -> dict[str, Any]:
    info, end = process.info, process.end or {}
    said = {name: info.get(name) for name in ("pid", "host", "rank", "mode", "task", "versions", "started")}
    return {
        "index": process.index,
        "state": process.state,
        **said,
        "argv": [str(word) for word in info.get("argv") or []],
        "ended": end.get("ended"),
        "how": end.get("how"),
        "status": end.get("status"),
        "dropped": end.get("dropped") or 0,
    }
