"""Everything that imports TensorFlow."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Name -> the module that has it; imported when it is first asked for.
_MODULES = {
    "disable_check_numerics": "tdbg.tensorflow.numerics",
    "enable_check_numerics": "tdbg.tensorflow.numerics",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_MODULES[name]), name)
