"""A debugger for the numbers inside deep-learning programs."""

from typing import Any

from tdbg.errors import TdbgError
from tdbg.recording import breakpoint, disable, enable, step, watch
from tdbg.recording import open_trace as open

__version__ = "0.1.0"
__all__ = ["TdbgError", "__version__", "breakpoint", "disable", "enable", "open", "step", "watch"]


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext tdbg``: the magics ``%tdbg`` and ``%%tdbg``."""
    from tdbg.notebook.magics import Magics

    Magics(shell).register()


def __getattr__(name: str) -> Any:
    """``tdbg.keras`` and ``tdbg.tensorflow`` load their framework when they are first asked for."""
    if name in ("keras", "tensorflow"):
        from importlib import import_module

        return import_module(f"tdbg.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
