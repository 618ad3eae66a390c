"""One folder for each framework, and the contract that it implements. Nothing here imports a framework."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from typing import cast

from tdbg.frameworks.contract import Dialect, Ops

# By the name under which programs import it.
FRAMEWORKS = {"tensorflow": "tdbg.frameworks.tensorflow"}
DEFAULT = "tensorflow"  # of traces that name none, or one that this tdbg does not know


def ops_of(framework: str) -> Ops:
    """What a framework's native op types are in tdbg's words."""
    return cast(Ops, import_module(f"{FRAMEWORKS.get(framework, FRAMEWORKS[DEFAULT])}.ops"))


@cache
def dialect_of(framework: str) -> Dialect:
    """How the users of a framework say things."""
    module = import_module(f"{FRAMEWORKS.get(framework, FRAMEWORKS[DEFAULT])}.dialect")
    return cast(Dialect, module.DIALECT)


def titles() -> str:
    """All frameworks that tdbg knows, as a sentence names them: ``TensorFlow``."""
    *others, last = (dialect_of(name).title for name in FRAMEWORKS)
    return f"{', '.join(others)} or {last}" if others else last


def is_any_imported() -> bool:
    """Whether this process has loaded a framework that can be recorded."""
    return any(name in sys.modules for name in FRAMEWORKS)
