"""A SavedModel about to be written in, the same without tdbg's ops out: what users save must load where tdbg is not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tensorflow.python.framework import meta_graph
from tensorflow.python.saved_model import save

OBSERVE, WATCH = "TdbgObserve", "TdbgWatch"


def install() -> None:
    """Once per process and for good: functions that were traced under tdbg may be saved long after disable()."""
    original = save._build_meta_graph

    def _build_meta_graph(*args: Any, **kwargs: Any) -> Any:
        result = original(*args, **kwargs)
        strip(result[0])
        return result

    save._build_meta_graph = _build_meta_graph


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
        if node.op not in (OBSERVE, WATCH):
            continue
        changed.add(node.name)
        data = [name for name in node.input if not name.startswith("^")]
        control = [name for name in node.input if name.startswith("^")]
        if node.op == OBSERVE:
            kept = {"T": node.attr["T"]}
            node.op, inputs = "Identity", [data[0], *control]
        else:  # a function's own arguments are no nodes and can not be waited for
            kept = {}
            makers = [name.split(":")[0] for name in data]
            node.op, inputs = "NoOp", [*(f"^{name}" for name in makers if name in names), *control]
        node.input[:] = inputs
        for key in list(node.attr):
            if key not in kept and not key.startswith("_"):
                del node.attr[key]
    return changed
