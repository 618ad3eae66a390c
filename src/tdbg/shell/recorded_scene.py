"""Gets the scene of the trace behind what a shell looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tdbg.capture.held_scene import HeldScene
from tdbg.query.scene.trace_scene import TraceScene

if TYPE_CHECKING:
    from tdbg.shell.engine import Engine


def recorded_scene(shell: Engine) -> TraceScene:
    """Gives the scene itself where it is one of a trace, without what is only in memory where the program is held; a
    run of a Session is made into one."""
    scene = shell.scene
    if isinstance(scene, HeldScene):
        scene = scene.recorded
    return scene if isinstance(scene, TraceScene) else TraceScene(scene.trace())
