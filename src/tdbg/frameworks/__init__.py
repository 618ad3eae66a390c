"""One folder for each framework, and the contract that it implements. Nothing here imports a framework."""

from __future__ import annotations

from importlib import import_module
from typing import cast

from tdbg.frameworks.contract import Ops

# By the name under which programs import it.
FRAMEWORKS = {"tensorflow": "tdbg.frameworks.tensorflow"}


def ops_of(framework: str) -> Ops:
    """What a framework's native op types are in tdbg's words."""
    return cast(Ops, import_module(f"{FRAMEWORKS[framework]}.ops"))
