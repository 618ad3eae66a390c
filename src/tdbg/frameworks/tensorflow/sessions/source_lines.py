"""Finds the op of the user's program that a node of a graph stands for, and the lines that created it."""

from __future__ import annotations

import linecache
import os
from collections.abc import Collection, Sequence
from functools import cache
from typing import Any, cast

from tdbg.frames import is_own_file, is_user_file
from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs
from tdbg.frameworks.tensorflow.sessions.matching import Given, Matching, Part, Written
from tdbg.model import Frame


class UserOps:
    """The ops that a program made in one tf.Graph, asked for by the nodes that the runtime made of them."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph
        self._matching = Matching(cast(ClientGraphs, _AsItIs(graph)), graph)

    def named(self, name: str) -> Any:
        """The tf.Operation of this very name, or None."""
        return _named(self._graph, name)

    def of(self, node: Any) -> Any:
        """The tf.Operation that a NodeDef of the runtime came from, or None."""
        return self._matching.of(node).op

    def parts(self, node: Any, kept: Collection[str]) -> list[Part]:
        """The ops that became this node; none where it is what the program wrote. ``kept``: names of what is computed
        apart."""
        return self._matching.parts(node, self._matching.of(node), kept)

    def as_written(self, node: Any, parts: Sequence[Part], given: Sequence[Given]) -> list[Written]:
        """The parts of a fused node, each with what it reads."""
        return self._matching.as_written(node, self._matching.of(node), parts, given)

    def attributes(self, op: Any) -> dict[str, Any]:
        return self._matching.attributes(op)

    def type_of(self, node: Any) -> str:
        """The type that the program wrote, where the runtime only has another word for it."""
        return self._matching.type_of(node, self._matching.of(node))


def user_stack(op: Any) -> list[str]:
    """The user's own frames where a tf.Operation was made, the innermost last."""
    found = [frame for frame in frames_of(op) if frame.is_user]
    return [f"{os.path.basename(frame.file)}:{frame.line}  {line_text(frame)}" for frame in reversed(found)]


def frames_of(op: Any) -> list[Frame]:
    """Where a tf.Operation was made, the innermost first."""
    found = []
    for file, line, function, *_ in map(tuple, reversed(op.traceback or ())):
        is_user, is_own = _kind_of(file)
        if not is_own:
            found.append(Frame(file, line, function, is_user))
    return found


def line_text(frame: Frame) -> str:
    return linecache.getline(frame.file, frame.line).strip()


@cache
def _kind_of(file: str) -> tuple[bool, bool]:
    return is_user_file(file), is_own_file(file)


def _named(graph: Any, name: str) -> Any:
    try:
        return graph.get_operation_by_name(name)
    except (KeyError, ValueError):
        return None


class _AsItIs:
    """Ops of a tf.Graph, for which nothing was recorded."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    def op(self, graph: Any, name: str) -> Any:
        return _named(graph, name)

    def in_function(self, function: str, name: str) -> Any:
        """One op of a function; Grappler makes copies of functions and numbers the outputs in their names."""
        made = getattr(self._graph, "_functions", {}).get(function.split("_rewritten")[0])
        inner = getattr(made, "graph", None)
        if inner is None:
            return None
        return _named(inner, name) or _named(inner, name.rpartition("_")[0])
