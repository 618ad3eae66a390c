"""Adds watches to a RunOptions, for the tensors that are to be dumped or sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from tdbg.frameworks.tensorflow.tfdbg.old_names import takes_old_names

_ALL_OPS = re.compile(r"DebugIdentity(\(|$)")  # ops that take tensors of every type
# The runtime looks at a wildcard only where a tensor is watched by name too; the name may be nobody's.
_NOBODY = "tdbg_no_such_node"
_MERGED = "/unary_ops_composition"
Expressions = tuple[str | None, str | None, str | None]  # of a node's name, its op type and a tensor's element type


class WatchOptions:
    """What a ``watch_fn`` gives back: the debug ops, and which tensors they are put behind."""

    @takes_old_names
    def __init__(
        self,
        debug_ops: str | list[str] | None = None,
        node_name_regex_allowlist: str | None = None,
        op_type_regex_allowlist: str | None = None,
        tensor_dtype_regex_allowlist: str | None = None,
        tolerate_debug_op_creation_failures: bool = False,
    ) -> None:
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_allowlist = node_name_regex_allowlist
        self.op_type_regex_allowlist = op_type_regex_allowlist
        self.tensor_dtype_regex_allowlist = tensor_dtype_regex_allowlist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"WatchOptions({fields})"


def add_debug_tensor_watch(
    run_options: Any,
    node_name: str,
    output_slot: int = 0,
    debug_ops: str | list[str] = "DebugIdentity",
    debug_urls: str | list[str] | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
) -> None:
    """Watches one tensor: output ``output_slot`` of the node. Attributes of a debug op go into its name, in brackets:
    ``"DebugNumericSummary(mute_if_healthy=true; lower_bound=-1)"``."""
    run_options.debug_options.global_step = global_step
    run_options.debug_options.debug_tensor_watch_opts.add(
        node_name=node_name,
        output_slot=output_slot,
        debug_ops=_as_list(debug_ops),
        debug_urls=_as_list(debug_urls or []),
        tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
    )


@takes_old_names
def watch_graph(
    run_options: Any,
    graph: Any,
    debug_ops: str | list[str] = "DebugIdentity",
    debug_urls: str | list[str] | None = None,
    node_name_regex_allowlist: str | None = None,
    op_type_regex_allowlist: str | None = None,
    tensor_dtype_regex_allowlist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watches the tensors of a graph that match all the expressions given (``re.match``).

    Without an expression also those that TensorFlow makes itself when it optimizes the graph.
    """
    if not debug_ops:
        raise ValueError("debug_ops must not be empty or None.")
    if not debug_urls:
        raise ValueError("debug_urls must not be empty or None.")
    expressions = (node_name_regex_allowlist, op_type_regex_allowlist, tensor_dtype_regex_allowlist)
    tensors = _tensors(graph, _all_match(expressions))
    wildcard = [] if any(expressions) else [("*", -1)]
    for node, slot in (*tensors, *wildcard):
        add_debug_tensor_watch(
            run_options, node, slot, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
        )
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


@takes_old_names
def watch_graph_with_denylists(
    run_options: Any,
    graph: Any,
    debug_ops: str | list[str] = "DebugIdentity",
    debug_urls: str | list[str] | None = None,
    node_name_regex_denylist: str | None = None,
    op_type_regex_denylist: str | None = None,
    tensor_dtype_regex_denylist: str | None = None,
    tolerate_debug_op_creation_failures: bool = False,
    global_step: int = -1,
    reset_disk_byte_usage: bool = False,
) -> None:
    """Watches the tensors of a graph that match none of the expressions (``re.match``)."""
    expressions = (node_name_regex_denylist, op_type_regex_denylist, tensor_dtype_regex_denylist)
    name, kind, dtype = (_matcher(expression, when_absent=False) for expression in expressions)
    for node, slot in _tensors(graph, lambda texts: not (name(texts[0]) or kind(texts[1]) or dtype(texts[2]))):
        add_debug_tensor_watch(
            run_options, node, slot, debug_ops, debug_urls, tolerate_debug_op_creation_failures, global_step
        )
    run_options.debug_options.reset_disk_byte_usage = reset_disk_byte_usage


def watch_everything(run_options: Any, debug_ops: str | list[str], debug_urls: list[str]) -> bool:
    """Watches all tensors with two entries, whatever the size of the graph. False, and nothing done, where one of the
    debug ops does not take tensors of every type: for those each tensor must be named."""
    if not all(_ALL_OPS.match(op) for op in _as_list(debug_ops)):
        return False
    add_debug_tensor_watch(run_options, _NOBODY, 0, debug_ops, debug_urls)
    add_debug_tensor_watch(run_options, "*", -1, debug_ops, debug_urls)
    return True


def watch_merged(run_options: Any) -> None:
    """Also watches the nodes into which TensorFlow merges chains of elementwise ops, under the name of the last one."""
    for watch in list(run_options.debug_options.debug_tensor_watch_opts):
        if watch.output_slot == 0:
            merged = run_options.debug_options.debug_tensor_watch_opts.add()
            merged.CopyFrom(watch)
            merged.node_name += _MERGED


def watch_fed(run_options: Any, graph: Any, fed: Sequence[str], expressions: Expressions, urls: list[str]) -> None:
    """Also watches the tensors of these names that match the expressions. The runtime puts a node of its own into the
    place of what is fed, whose name ends in a number that it chooses."""
    is_wanted = _all_match(expressions)
    for name in fed:
        try:
            tensor = graph.get_tensor_by_name(name)
        except (KeyError, ValueError):  # it is not a tensor that is fed
            continue
        op = tensor.op
        if is_wanted((op.name, op.type, tensor.dtype.name)):
            for number in range(len(fed)):
                node = f"_arg_{op.name}_{tensor.value_index}_{number}"
                add_debug_tensor_watch(run_options, node, 0, debug_urls=urls)


def count_matching(graph: Any, expressions: Expressions) -> int:
    """How many tensors of a graph match all the expressions."""
    return sum(1 for _ in _tensors(graph, _all_match(expressions)))


def _as_list(texts: str | list[str]) -> list[str]:
    return [texts] if isinstance(texts, str) else list(texts)


def _matcher(expression: str | None, when_absent: bool) -> Callable[[str], Any]:
    return re.compile(expression).match if expression else lambda text: when_absent


def _all_match(expressions: Expressions) -> Callable[[tuple[str, str, str]], Any]:
    matchers = [_matcher(expression, when_absent=True) for expression in expressions]
    return lambda texts: all(matches(text) for matches, text in zip(matchers, texts, strict=True))


def _tensors(graph: Any, is_wanted: Callable[[tuple[str, str, str]], Any]) -> Iterator[tuple[str, int]]:
    for op in graph.get_operations():
        for slot, tensor in enumerate(op.outputs):
            if is_wanted((op.name, op.type, tensor.dtype.name)):
                yield op.name, slot
