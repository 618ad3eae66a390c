"""Modules of tfdbg that programs import by themselves: ``framework``, ``debug_data``, ``debug_graphs``, ``grpc``."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

_HOMES = {
    "debug_data": "reading_dumps",
    "debug_graphs": "reading_dumps",
    "framework": "tfdbg",
    "grpc": "tfdbg",
}


def __getattr__(name: str) -> ModuleType:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return import_module(f"tdbg.frameworks.tensorflow.{_HOMES[name]}.{name}")
