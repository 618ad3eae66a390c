"""A node of a graph in; the lines of the user's code that made it out."""

from __future__ import annotations

import linecache
import os
from typing import Any, cast

from tensorflow.core.framework import node_def_pb2

from tdbg.frames import is_user_file
from tdbg.tensorflow.session.client_graphs import ClientGraphs
from tdbg.tensorflow.session.matching import Matching, fed_name


def user_line(graph: Any, node_name: str) -> list[str]:
    """`` -> file.py:12  the text``: where the user's code made a node, or the one that it was optimized from."""
    node = node_def_pb2.NodeDef(name=node_name, op="_Arg" if fed_name(node_name) else "")
    op: Any = Matching(cast(ClientGraphs, _AsItIs()), graph).of(node).op
    return [f" -> {line}" for line in user_stack(op)[-1:]] if op is not None else []


def user_stack(op: Any) -> list[str]:
    """The user's own frames where a tf.Operation was made, the innermost last."""
    return [
        f"{os.path.basename(file)}:{line}  {linecache.getline(file, line).strip()}"
        for file, line, *_ in map(tuple, op.traceback or ())
        if is_user_file(file)
    ]


class _AsItIs:
    """Ops of a tf.Graph, for which nothing was recorded."""

    def op(self, graph: Any, name: str) -> Any:
        try:
            return graph.get_operation_by_name(name)
        except (KeyError, ValueError):
            return None

    def in_function(self, function: str, name: str) -> None:
        return None
