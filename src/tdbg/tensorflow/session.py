"""Modules of tfdbg that programs import by themselves: ``framework``, ``debug_data``, ``debug_graphs``, ``grpc``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_MODULES = frozenset(("debug_data", "debug_graphs", "framework", "grpc"))


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"tdbg.frameworks.tensorflow.tfdbg.{name}")
