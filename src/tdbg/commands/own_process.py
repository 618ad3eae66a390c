"""Prepares a process of tdbg's own that starts however the user's program changes this one.

It must be prepared before the program begins: that may change the environment, the search path and the working
directory, and what lies in its folder must not be taken for modules that tdbg needs.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import tdbg


class OwnProcess:
    """How to start the process: ``words`` and ``environment`` are for ``subprocess``."""

    def __init__(self, module: str, *arguments: str) -> None:
        self.words = [sys.executable, "-P", "-W", "ignore", "-m", module, *arguments]
        places = sys.path if sys.flags.safe_path else sys.path[1:]  # the first is the folder of a script, or this one
        home = str(Path(tdbg.__file__).absolute().parents[1])
        found = dict.fromkeys([*(str(Path(place).absolute()) for place in places if place), home])
        self.environment = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
