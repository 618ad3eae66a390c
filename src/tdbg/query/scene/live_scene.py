"""Opens the trace of a running program at its own process and the step where it is now."""

from __future__ import annotations

from pathlib import Path

from tdbg.query.scene.trace_scene import TraceScene
from tdbg.query.trace.trace import Trace


def scene_at(path: Path, pid: int, step: int) -> TraceScene:
    """Opens the scene at the step, or at the latest moment that was recorded where that step has nothing yet."""
    trace = Trace.open(path)
    own = [number for number, process in enumerate(trace.processes) if process.info.get("pid") == pid]
    scene = TraceScene(trace, own[-1] if own else None)
    moments = scene.moments()
    at_step = [moment.number for moment in moments if moment.kind == "step" and moment.number == step]
    if moments:
        scene.go(at_step[0] if at_step else moments[-1].number)
    return scene
