"""Tells what is directly inside a scope of a graph: scopes and ops, their health, and what flows among them.

``a/b/MatMul`` is an op of scope ``a/b``, which lies in scope ``a``. Eager ops are a graph of their own, -1.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tdbg.errors import TdbgError
from tdbg.query.listing.op_health import Healths, together
from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.program import Op

_MOST = 400  # things of one scope that are told


@dataclass(frozen=True, slots=True)
class Thing:
    """A scope, or a single op, inside the scope that was asked for."""

    name: str  # behind the scope's own
    ops: tuple[int, ...]
    is_scope: bool


class Scopes:
    """The scopes of one process, until the trace has grown."""

    def __init__(self, read: SceneCache, healths: Healths) -> None:
        self._read, self.healths = read, healths

    @cached_property
    def _by_graph(self) -> dict[int, list[Op]]:
        found: dict[int, list[Op]] = defaultdict(list)
        for op in self._read.program.ops.values():
            found[op.graph].append(op)
        return found

    def graphs(self) -> list[dict[str, Any]]:
        """Lists all graphs with their health; eager ops come first."""
        rows = self._read.trace.table("graphs", ["graph", "outer", "name", "function"], self._read.process).to_pylist()
        eager = {"graph": -1, "outer": -1, "name": "", "function": "", "process": self._read.process}
        known = [eager, *rows] if self._by_graph.get(-1) else rows
        return [
            row
            | {"ops": len(self._by_graph.get(row["graph"], ()))}
            | together(self.healths.of(op.number) for op in self._by_graph.get(row["graph"], ())).as_dict()
            for row in known
        ]

    def inside(self, graph: int, scope: str, norms: bool = False) -> dict[str, Any]:
        """Tells what is directly inside a scope; TdbgError when there is no such graph or scope."""
        things = self._things(graph, scope.strip("/"))
        place = {op: n for n, thing in enumerate(things) for op in thing.ops}
        flows: Counter[tuple[int, int]] = Counter()
        outside: Counter[tuple[int, bool]] = Counter()
        for n, thing in enumerate(things):
            for number in thing.ops:
                for source, _ in self._read.program.ops[number].inputs:
                    if source in place and place[source] != n:
                        flows[place[source], n] += 1
                    elif source not in place:
                        outside[n, True] += 1
        for number, n in place.items():
            outside[n, False] += sum(
                reader.number not in place for reader, _ in self._read.program.graph.recipients.get(number, ())
            )
        shown = things[:_MOST]
        return {
            "graph": graph,
            "scope": scope.strip("/"),
            "left_out": len(things) - len(shown),
            "things": [
                self._thing(thing, norms) | {"from_outside": outside[n, True], "to_outside": outside[n, False]}
                for n, thing in enumerate(shown)
            ],
            "edges": [
                {"from": source, "to": target, "count": count}
                for (source, target), count in flows.items()
                if source < _MOST and target < _MOST
            ],
        }

    def _things(self, graph: int, scope: str) -> list[Thing]:
        if graph not in self._by_graph:
            raise TdbgError(f"there is no graph {graph} in this trace")
        prefix = f"{scope}/" if scope else ""
        scopes: dict[str, list[int]] = {}
        singles: dict[int, str] = {}
        for op in self._by_graph[graph]:
            name = self._name(op)
            if not name.startswith(prefix):
                continue
            head, slash, _ = name[len(prefix) :].partition("/")
            if slash:
                scopes.setdefault(head, []).append(op.number)
            else:
                singles[op.number] = head
        if not scopes and not singles:
            raise TdbgError(f"there is no scope {scope!r} in graph {graph}")
        things = [Thing(name, tuple(ops), True) for name, ops in scopes.items()]
        things += [Thing(name, (number,), False) for number, name in singles.items()]
        return sorted(things, key=lambda thing: thing.ops[0])

    def _name(self, op: Op) -> str:
        at = self._read.ops.at.get(op.number, -1)
        return self._read.ops.shown[at] if at >= 0 else op.name

    def _thing(self, thing: Thing, norms: bool) -> dict[str, Any]:
        first = self._read.program.ops[thing.ops[0]]
        phases = Counter(self._read.program.ops[number].phase.label for number in thing.ops)
        found = {
            "name": thing.name,
            "kind": "scope" if thing.is_scope else "op",
            "op": -1 if thing.is_scope else first.number,
            "type": "" if thing.is_scope else first.type,
            "ops": len(thing.ops),
            "phase": phases.most_common(1)[0][0],
            **together(self.healths.of(number) for number in thing.ops).as_dict(),
        }
        if norms:
            known = [self.healths.norms[number] for number in thing.ops if number in self.healths.norms]
            found["norm"] = max(known, default=None)
        return found
