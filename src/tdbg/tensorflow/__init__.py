"""The names that users of TensorFlow take from tdbg; each is loaded when it is asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Public name -> the module that has it. Importing this package must not import TensorFlow.
_HOMES = {
    "disable_check_numerics": "tdbg.frameworks.tensorflow.tfdbg.numerics",
    "disable_dump_debug_info": "tdbg.frameworks.tensorflow.tfdbg.dump_debug_info",
    "enable_check_numerics": "tdbg.frameworks.tensorflow.tfdbg.numerics",
    "enable_dump_debug_info": "tdbg.frameworks.tensorflow.tfdbg.dump_debug_info",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
