"""Takes tdbg's ops out of a SavedModel that is being written: what users save must load where tdbg is not.

Observers become ``Identity``, watches ``NoOp``. It stays installed after ``disable()``, for functions that were traced
while tdbg was on keep their observers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from tensorflow.python.framework import meta_graph
from tensorflow.python.saved_model import save

OBSERVE, WATCH = "TdbgObserve", "TdbgWatch"
NAMES = "tdbg/"  # an absolute name scope, so that the user's own scopes stay as they were
PYTHON = ("PyFunc", "PyFuncStateless")  # what observers are without the compiled extension

_is_installed = False


def install() -> None:
    """Once per process and for good: functions that were traced under tdbg may be saved long after disable()."""
    global _is_installed
    if _is_installed:
        return
    _is_installed = True
    original, gradients = save._build_meta_graph, save._iterate_op_types

    def _build_meta_graph(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        strip(result[0])
        return result

    def _iterate_op_types(function: Any) -> Iterator[tuple[Any, Any]]:
        """TensorFlow saves gradients of the user's own; those of observers go with them."""
        for op_type, op in gradients(function):
            if op_type not in (OBSERVE, OBSERVE.encode()):
                yield op_type, op

    save._build_meta_graph, save._iterate_op_types = _build_meta_graph, _iterate_op_types


def strip(meta: Any) -> None:
    """Turns observers into Identity and watches into NoOp, in the graph and in all its functions."""
    graph = meta.graph_def
    changed = _strip_nodes(graph.node)
    for function in graph.library.function:
        observed = _strip_nodes(function.node_def)
        if observed:
            changed |= observed
            renamed = {f"{name}:y:0": f"{name}:output:0" for name in observed}
            for node in function.node_def:
                node.input[:] = [renamed.get(name, name) for name in node.input]
            for result, source in list(function.ret.items()):
                function.ret[result] = renamed.get(source, source)
    if changed:
        meta.meta_info_def.stripped_op_list.CopyFrom(meta_graph.stripped_op_list_for_graph(graph))


def _strip_nodes(nodes: Iterable[Any]) -> set[str]:
    """The names of the nodes that changed."""
    nodes = list(nodes)
    names = {node.name for node in nodes}
    changed = set()
    for node in nodes:
        is_python = node.op in PYTHON and node.name.startswith(NAMES)
        if node.op not in (OBSERVE, WATCH) and not is_python:
            continue
        changed.add(node.name)
        data = [name for name in node.input if not name.startswith("^")]
        control = [name for name in node.input if name.startswith("^")]
        has_output = node.op == OBSERVE or (is_python and node.attr["Tout"].list.type)  # a breakpoint has none
        if has_output:
            if is_python:
                node.attr["T"].type = node.attr["Tin"].list.type[0]
            kept = {"T": node.attr["T"]}
            node.op, inputs = "Identity", [data[0], *control]
        else:  # a function's own arguments are no nodes and can not be waited for
            kept = {}
            makers = [name.split(":")[0] for name in data]
            node.op, inputs = "NoOp", [*(f"^{name}" for name in makers if name in names), *control]
        node.input[:] = inputs
        for key in list(node.attr):
            if key == "_gradient_op_type" or (key not in kept and not key.startswith("_")):
                del node.attr[key]
    return changed
