"""Finds the op of the program that a node of the runtime's graph stands for.

Grappler fuses, folds and renames: ``Relu`` becomes a ``_FusedMatMul`` of the same name (``_MklNativeFusedMatMul`` where
oneDNN is on), ``Sqrt`` becomes ``Sqrt/unary_ops_composition``, ``add`` in ``scope`` becomes
``scope/ArithmeticOptimizer/AddOpsRewrite_add``. A fused op is told as what the program wrote: its parts, each with its
line and inputs. Only the last has a value that can be seen.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from tensorflow.python.framework import tensor_util
from tensorflow.python.framework.dtypes import as_dtype
from tensorflow.python.framework.ops import Operation

from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs, ClientOp
from tdbg.frameworks.tensorflow.sessions.reordering import reordered
from tdbg.model import Phase

_FED = re.compile(r"^_arg_(.+)_(\d+)_\d+$")
_OPTIMIZER = re.compile(r"^(?:(.*)/)?(?:ArithmeticOptimizer|ConstantFolding|LoopOptimizer|MklRemapper)/(.+)$")
_FOLDED = re.compile(r"-(?:folded|reshape|bcast|eval|PartialFolded)[-\w]*$")
_MKL = re.compile(r"^_Mkl(?:Native)?")
_SAME_VALUE = re.compile(r"^(.+)/(?:unary_ops_composition|_\d+__cf__\d+)$")
_MOST_PARTS = 16
_ENTRANCES = ("Const", "Placeholder")
_HAND_ON = ("Identity", "StopGradient", "PreventGradient", "Snapshot")


class Match(NamedTuple):
    """``is_same``: the node bears the op's own name; else the op is the nearest that is known.

    ``together``: the constants of several ops that the node is made of, the op being the last of these.
    """

    op: ClientOp | None
    is_same: bool
    together: str = ""


class Part(NamedTuple):
    """An op of the program that became a node, alone or with others; its name is that in the runtime's graph."""

    name: str
    op: Any


class Given(NamedTuple):
    """An input of a node, by the name that the program gave it."""

    name: str
    slot: int


class Written(NamedTuple):
    """A part, and what it reads: another part's output, or the node's input of this number."""

    part: Part
    reads: list[tuple[str, int] | int]


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
            return self._reordered(node, own) or Match(own, True)
        debug = node.experimental_debug_info
        pairs = zip(debug.original_func_names, debug.original_node_names, strict=False)
        for function, name in pairs:
            inner = self._clients.in_function(function, name)
            if inner is not None:
                return Match(inner, True)
        return Match(self._nearest(node.name), False)

    def _reordered(self, node: Any, own: ClientOp) -> Match | None:
        made = _operation(own) if own.type != "Const" and is_bad_constant(node) else None
        found = reordered(made, lambda op: self._is_of_phase(op, own.phase)) if made is not None else None
        if found is None:
            return None
        ops = [(self._clients.op(one.graph, one.name), words) for one, words in found.factors]
        lines = [(self._clients.line(op) if op is not None else "", words) for op, words in ops]
        together = f" {found.sign} ".join(f"{words} ({line})" if line else words for line, words in lines)
        return Match(self._clients.op(found.last.graph, found.last.name), True, together)

    def _is_of_phase(self, made: Any, phase: Phase) -> bool:
        op = self._clients.op(made.graph, made.name)
        return op is not None and op.phase == phase

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
        """The type that the program wrote, where the runtime has its own word for what it computes under that name."""
        if node.op == "_Arg":
            return "Placeholder"
        if match.op is not None and (_is_told_as_written(node, match) or match.op.type == _MKL.sub("", node.op)):
            return str(match.op.type)
        return str(node.op)

    def parts(self, node: Any, match: Match, kept: Collection[str]) -> list[Part]:
        """The ops of the program that became this node, its own first. ``kept``: names of what is computed apart."""
        if match.op is None or node.op in ("_Arg", match.op.type) or _MKL.sub("", node.op) == match.op.type:
            return []
        if match.is_same and not node.name.endswith(match.op.name):  # an output's number is behind it
            return [Part(node.name, match.op)]
        scope = node.name.removesuffix(match.op.name) if match.is_same else ""  # of a function's call
        found, waiting = [Part(scope + match.op.name, match.op)], [match.op]
        while waiting and len(found) < _MOST_PARTS:
            for made in self._read(waiting.pop(), scope, kept):
                part = Part(scope + made.op.name, self._clients.op(made.op.graph, made.op.name))
                if part.op is None or part.op.type in _ENTRANCES or part.name in kept or part in found:
                    continue
                found.append(part)
                waiting.append(part.op)
        return found

    def as_written(self, node: Any, match: Match, parts: Sequence[Part], given: Sequence[Given]) -> list[Written]:
        """Each part of a node with what it reads: other parts, and what the node is given. Empty where the node is no
        op of the program's under another type."""
        if len(parts) < 2 or not _is_told_as_written(node, match):
            return []
        scope = parts[0].name.removesuffix(parts[0].op.name)
        names = {part.name for part in parts}
        by_name = {(one.name, one.slot): at for at, one in enumerate(given)}
        found, unread = [], set(range(len(given)))
        for part in parts:
            reads: list[tuple[str, int] | int] = []
            kept = {name for name, _ in by_name}
            for made in self._read(part.op, scope, kept):
                name = scope + made.op.name
                at = by_name.get((name, made.value_index), by_name.get((made.op.name, made.value_index)))
                if name in names:
                    reads.append((name, made.value_index))
                elif at is not None:
                    reads.append(at)
                    unread.discard(at)
            found.append(Written(part, reads))
        found[-1].reads.extend(sorted(unread))  # under a name of the runtime's own: the innermost op reads first
        return found

    def _read(self, op: Any, scope: str, kept: Collection[str]) -> Iterator[Any]:
        """What an op of the program reads, looking through what only hands it on and is not computed apart."""
        for tensor in self.inputs(op):
            while tensor.op.type in _HAND_ON and scope + tensor.op.name not in kept and tensor.op.inputs:
                tensor = tensor.op.inputs[0]
            yield tensor

    def inputs(self, op: Any) -> Sequence[Any]:
        """The tensors that an op of the program reads."""
        made = _operation(op)
        return made.inputs if made is not None else ()

    def attributes(self, op: Any) -> dict[str, Any]:
        """As the program wrote them."""
        made = _operation(op)
        return {key: value for key, value in made.node_def.attr.items() if key[0] != "_"} if made is not None else {}


def _operation(op: Any) -> Any:
    """The tf.Operation that is meant; None when its graph is gone."""
    if isinstance(op, Operation):
        return op
    graph = op.graph()
    try:
        return graph.get_operation_by_name(op.name) if graph is not None else None
    except (KeyError, ValueError):
        return None


def _is_told_as_written(node: Any, match: Match) -> bool:
    """Whether a type of the runtime's own, or a bad constant computed beforehand, stands under the name of an op
    that the program wrote."""
    if not match.is_same or match.op is None or match.op.type == node.op:
        return False
    return (node.op[0] == "_" and match.op.type[0] != "_") or is_bad_constant(node)


def is_bad_constant(node: Any) -> bool:
    """Whether a node is a constant with NaN or infinity."""
    if node.op != "Const" or not as_dtype(node.attr["dtype"].type).is_floating:
        return False
    value = tensor_util.MakeNdarray(node.attr["value"].tensor)
    return not np.isfinite(value.astype(np.float64)).all()
