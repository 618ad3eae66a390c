"""A node of the graph that the runtime made in; the op of the program that it stands for out.

Grappler fuses, folds and renames: ``Relu`` becomes a ``_FusedMatMul`` of the same name, ``Sqrt`` becomes
``Sqrt/unary_ops_composition``, ``add`` in ``scope`` becomes ``scope/ArithmeticOptimizer/AddOpsRewrite_add``.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Any, NamedTuple

from tdbg.tensorflow.session.client_graphs import ClientGraphs, ClientOp

_FED = re.compile(r"^_arg_(.+)_(\d+)_\d+$")
_OPTIMIZER = re.compile(r"^(?:(.*)/)?(?:ArithmeticOptimizer|ConstantFolding|LoopOptimizer|MklRemapper)/(.+)$")
_FOLDED = re.compile(r"-(?:folded|reshape|bcast|eval|PartialFolded)[-\w]*$")
_MKL = re.compile(r"^_Mkl(?:Native)?")
_SAME_VALUE = re.compile(r"^(.+)/(?:unary_ops_composition|_\d+__cf__\d+)$")
_MOST_ABSORBED = 16


class Match(NamedTuple):
    """``is_same``: the node bears the op's own name; else the op is the nearest that is known."""

    op: ClientOp | None
    is_same: bool


def fed_name(node: str) -> tuple[str, int] | None:
    """The (op, slot) that a run was fed, given the node that brings it in."""
    found = _FED.match(node)
    return (found[1], int(found[2])) if found else None


def computed_for(node: str) -> str | None:
    """The op whose only output a node has, where the runtime computed it beforehand or together with what it reads."""
    found = _SAME_VALUE.match(node)
    return found[1] if found else None


class Matching:
    """Of one graph."""

    def __init__(self, clients: ClientGraphs, graph: Any) -> None:
        self._clients, self._graph = clients, graph

    def of(self, node: Any) -> Match:
        fed = fed_name(node.name) if node.op == "_Arg" else None
        if fed is not None:
            return Match(self._named(fed[0]), True)
        own = self._named(node.name)
        if own is not None:
            return Match(own, True)
        debug = node.experimental_debug_info
        pairs = zip(debug.original_func_names, debug.original_node_names, strict=False)
        for function, name in pairs:
            inner = self._clients.in_function(function, name)
            if inner is not None:
                return Match(inner, True)
        return Match(self._nearest(node.name), False)

    def _named(self, name: str) -> ClientOp | None:
        return self._clients.op(self._graph, name)

    def _nearest(self, name: str) -> ClientOp | None:
        renamed = _OPTIMIZER.match(name)
        if renamed:
            scope = f"{renamed[1]}/" if renamed[1] else ""
            rest = _FOLDED.sub("", renamed[2])
            for candidate in (rest, rest.partition("_")[2], rest.rpartition("_")[0]):
                found = self._named(scope + candidate) if candidate else None
                if found is not None:
                    return found
            name = scope + rest
        while name:
            found = self._named(name)
            if found is not None:
                return found
            name = name.rpartition("/")[0]
        return None

    def type_of(self, node: Any, match: Match) -> str:
        """The type that the program wrote where the runtime only renamed it."""
        if node.op == "_Arg":
            return "Placeholder"
        plain = _MKL.sub("", node.op)
        return plain if match.op is not None and match.op.type == plain else node.op

    def absorbed(self, node: Any, match: Match, kept: Collection[str]) -> list[ClientOp]:
        """The ops of the program that became this node, its own first."""
        if match.op is None or node.op in ("_Arg", match.op.type):
            return []
        found, waiting = [match.op], [match.op]
        while waiting and len(found) < _MOST_ABSORBED:
            for name, _ in self.inputs(waiting.pop()):
                inner = self._named(name) if name not in kept else None
                if inner is not None and inner.type not in ("Const", "Placeholder") and inner not in found:
                    found.append(inner)
                    waiting.append(inner)
        return found

    def inputs(self, op: ClientOp) -> list[tuple[str, int]]:
        """What an op of the program reads; nothing is known of those in functions."""
        try:
            return [(t.op.name, t.value_index) for t in self._graph.get_operation_by_name(op.name).inputs]
        except (KeyError, ValueError):
            return []
