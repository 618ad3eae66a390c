"""A process in; the name scopes of its ops, as a tree in the order of the program and with their health, out."""

from __future__ import annotations

from typing import Any

from tdbg.query.op_health import Healths, OpHealth, together
from tdbg.query.scene_cache import SceneCache

_MOST = 2000
_DEEPEST = 6


def layers(read: SceneCache, healths: Healths) -> list[dict[str, Any]]:
    """Each scope before those inside it; ops of all graphs that share a scope are counted together."""
    ops: dict[str, int] = {}
    parts: dict[str, list[OpHealth]] = {}
    for number, name in zip(read.ops.numbers.tolist(), read.ops.shown, strict=True):
        health = healths.of(number)
        scopes = name.split("/")[:-1][:_DEEPEST]
        for depth in range(1, len(scopes) + 1):
            scope = "/".join(scopes[:depth])
            ops[scope] = ops.get(scope, 0) + 1
            parts.setdefault(scope, [])
            if health.rows:
                parts[scope].append(health)
    inside: dict[str, list[str]] = {}
    for scope in ops:
        inside.setdefault(scope.rpartition("/")[0], []).append(scope)
    found: list[dict[str, Any]] = []
    waiting = list(reversed(inside.get("", [])))
    while waiting and len(found) < _MOST:
        scope = waiting.pop()
        deeper = inside.get(scope, [])
        waiting += reversed(deeper)
        if parts[scope]:
            found.append(
                {"name": scope, "depth": scope.count("/"), "ops": ops[scope], "has_inner": bool(deeper)}
                | together(parts[scope]).as_dict()
            )
    return found
