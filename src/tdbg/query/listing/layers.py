"""Lists the layers of a model as a tree, in the order of the program and with their health.

A layer is a scope in which the program computed something forward. What is computed of its gradient belongs to it; what
made its weights or updates them does not. A program without scopes has the lines that were differentiated instead.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from tdbg.model import Phase
from tdbg.query.listing.layer_names import LayerNames
from tdbg.query.listing.op_health import Healths, OpHealth, together
from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.program import Op, short_path

_MOST = 2000


def layers(read: SceneCache, healths: Healths) -> list[dict[str, Any]]:
    """Lists each layer before those inside it; ops of all graphs that share a scope are counted together."""
    program = read.program
    names = LayerNames(program)
    seen = [
        op for op in program.ops.values() if op.phase in (Phase.FORWARD, Phase.BACKWARD) and healths.of(op.number).rows
    ]
    forward = {names.scope(op) for op in seen if op.phase == Phase.FORWARD} - {""}
    if not forward:
        return _lines(read, healths, seen)
    parts: dict[str, list[OpHealth]] = defaultdict(list)
    first: dict[str, tuple[int, int]] = {}
    ranks = _ranks(seen, healths)
    for op in seen:
        scope = names.scope(op)
        if scope not in forward:
            continue
        for around in _around(scope):
            parts[around].append(healths.of(op.number))
            if op.phase == Phase.FORWARD:
                first[around] = min(first.get(around, (len(ranks), 0)), (ranks[op.graph], op.number))
    inside: dict[str, list[str]] = defaultdict(list)
    for scope in sorted(first, key=lambda one: first[one]):
        inside[scope.rpartition("/")[0]].append(scope)
    found: list[dict[str, Any]] = []
    waiting = inside[""][::-1]
    while waiting and len(found) < _MOST:
        scope = waiting.pop()
        deeper = inside.get(scope, [])
        waiting += reversed(deeper)
        found.append(_layer(scope, parts[scope], scope.count("/"), bool(deeper)))
    return found


def _around(scope: str) -> list[str]:
    """Gives a scope and those around it, the outermost first."""
    words = scope.split("/")
    return ["/".join(words[:depth]) for depth in range(1, len(words) + 1)]


def _ranks(ops: list[Op], healths: Healths) -> dict[int, int]:
    """Ranks graphs by how much was computed in them: the order of layers is that of the graph that trains the model."""
    rows: Counter[int] = Counter()
    for op in ops:
        rows[op.graph] += healths.of(op.number).rows
    return {graph: rank for rank, (graph, _) in enumerate(rows.most_common())}


def _lines(read: SceneCache, healths: Healths, seen: list[Op]) -> list[dict[str, Any]]:
    program = read.program
    parts: dict[tuple[str, int], list[OpHealth]] = defaultdict(list)
    differentiated = set()
    for op in seen:
        made = (program.ops.get(op.forward) if op.phase == Phase.BACKWARD else None) or op
        frame = program.user_frame(made)
        if frame is None:
            continue
        parts[frame.file, frame.line].append(healths.of(op.number))
        if made is not op:
            differentiated.add((frame.file, frame.line))
    return [
        _layer(f"{short_path(file)}:{line}", parts[file, line], 0, False, file, line)
        for file, line in sorted(differentiated)[:_MOST]
    ]


def _layer(
    name: str, parts: list[OpHealth], depth: int, has_inner: bool, file: str = "", line: int = 0
) -> dict[str, Any]:
    about = {"name": name, "depth": depth, "ops": len(parts), "has_inner": has_inner, "file": file, "line": line}
    return about | together(parts).as_dict()
