"""Finds the path that a trace is written to, and says before the run what stands against it."""

from __future__ import annotations

import os
from pathlib import Path

from tdbg.capture.cluster import member
from tdbg.store.place import make_room, new_name


def choose_output(given: str | None, program: str, force: bool) -> Path:
    """Chooses the path, which is absolute because the program may change its folder before it imports a framework."""
    given = given or os.environ.get("TDBG_OUTPUT")
    path = Path(given).absolute() if given else new_name(program)
    task = member()
    make_room(path, force, "--force", *(task[:2] if task else ()))
    return path
