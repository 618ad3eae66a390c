"""Asks TensorFlow what its optimizers make of a function, and makes a function of a graph that they made.

A function is instantiated when it is first called, and its optimized graph can be collected then. A call that is
cancelled before it starts is instantiated all the same and runs nothing.
"""

from __future__ import annotations

import itertools
import re
import threading
from collections.abc import Sequence
from typing import Any, NamedTuple

from tensorflow.core.framework import graph_pb2
from tensorflow.core.protobuf import config_pb2
from tensorflow.python.eager import cancellation, context, execute
from tensorflow.python.framework import errors, func_graph, importer, ops

ARGUMENTS = ("_Arg", "_DeviceArg")
RESULTS = ("_Retval", "_DeviceRetval")
_ATTEMPTS = 4  # another thread may make functions of its own meanwhile, whose graphs come mixed with ours
_lock = threading.Lock()
_versions = itertools.count(1)


class NotCollectedError(Exception):
    """What became of the function cannot be had."""


def run(name: str, inputs: Sequence[Any], outputs: int, config: bytes, cancelled: Any = None) -> Any:
    """Calls a function of the runtime, as ``Context.call_function`` does, with a configuration of its own."""
    ctx = context.context()
    attrs = {**ctx.function_call_options.as_attrs(), "config_proto": config}
    given: dict[str, Any] = {
        "num_outputs": outputs,
        "inputs": list(inputs),
        "attrs": tuple(itertools.chain(*attrs.items())),
        "ctx": ctx,
    }
    stop = cancelled or cancellation.context()
    if stop is None:
        return execute.execute(name, **given) or None
    return execute.execute_with_cancellation(name, **given, cancellation_manager=stop) or None


def configuration() -> bytes:
    """What functions are optimized with, as the program asked for it."""
    return context.context().function_call_options.as_attrs()["config_proto"]


def as_it_is(config: bytes) -> bytes:
    """The same for graphs that are optimized already."""
    changed = config_pb2.ConfigProto.FromString(config)
    changed.graph_options.rewrite_options.disable_meta_optimizer = True
    return changed.SerializeToString()


class Optimized(NamedTuple):
    """What TensorFlow made of a function. ``partitions`` are what runs, one for each device."""

    whole: Any
    partitions: list[Any]

    @property
    def graph(self) -> Any:
        """The graph to make a function of: that which runs, or, where it is in parts, what it was parted from."""
        return self.partitions[0] if len(self.partitions) == 1 else self.whole


def graphs_of(name: str, inputs: Sequence[Any], outputs: int, config: bytes) -> Optimized:
    """What runs when the function is called with these."""
    ctx = context.context()
    with _lock:
        for _ in range(_ATTEMPTS):
            ctx.enable_graph_collection()
            try:
                _hand_over(ctx)
                ctx.export_run_metadata()
                _instantiate(name, inputs, outputs, _distinct(config))
                _hand_over(ctx)
                collected = ctx.export_run_metadata().function_graphs
            finally:
                ctx.disable_graph_collection()
            found = [Optimized(one.post_optimization_graph, list(one.partition_graphs)) for one in collected]
            ours = [one for one in found if one.partitions and _is_ours(one.partitions, len(inputs), outputs)]
            if len(ours) == 1:
                return ours[0]
    raise NotCollectedError("its optimized graph could not be told from those of other threads")


def _instantiate(name: str, inputs: Sequence[Any], outputs: int, config: bytes) -> None:
    cancelled = cancellation.CancellationManager()
    cancelled.start_cancel()
    try:  # not in a CancellationManagerContext: that is one for all threads, and the program's would be cancelled, too
        run(name, inputs, outputs, config, cancelled)
    except errors.CancelledError:
        return
    raise NotCollectedError("it was not cancelled")  # cannot be: TensorFlow asks before it starts a function


def _hand_over(ctx: Any) -> None:
    """TensorFlow hands over what it collected when an op has run; this one is made once, and adds nothing then."""
    execute.quick_execute("NoOp", 0, [], (), ctx)


def _distinct(config: bytes) -> bytes:
    """A function that was called before with the same configuration is not instantiated again."""
    changed = config_pb2.ConfigProto.FromString(config)
    changed.experimental.session_metadata.name = "tdbg"
    changed.experimental.session_metadata.version = next(_versions)
    return changed.SerializeToString()


def _is_ours(graphs: Sequence[Any], inputs: int, outputs: int) -> bool:
    nodes = [node for graph in graphs for node in graph.node]
    names = {node.name for node in nodes}
    given = sorted({node.attr["index"].i for node in nodes if node.op in ARGUMENTS})
    made = sorted(node.attr["index"].i for node in nodes if node.op in RESULTS)
    return len(names) == len(nodes) and made == list(range(outputs)) and (not given or given[-1] < inputs)


def differences(plain: Optimized, ours: Optimized, added: str) -> list[str]:
    """The nodes that are computed otherwise; ``added``: how the names of those begin that only ours has."""
    before = _computed(plain.partitions, added)
    after = _with_names_of(before, _computed(ours.partitions, added))
    return sorted(name for name in before.keys() | after.keys() if before.get(name) != after.get(name))


Computed = dict[str, tuple[str, list[str], str]]  # by the node's name: the op, its inputs, the device


def _with_names_of(before: Computed, after: Computed) -> Computed:
    """A node gets a number behind its name where a result of the function bears that name."""
    plain = {name: re.sub(r"_\d+$", "", name) for name in after if name not in before}
    plain = {name: base for name, base in plain.items() if base in before and base not in after}
    return {
        plain.get(name, name): (op, [_tensor_of(plain, text) for text in inputs], device)
        for name, (op, inputs, device) in after.items()
    }


def _tensor_of(plain: dict[str, str], text: str) -> str:
    name, colon, slot = text.partition(":")
    return plain.get(name, name) + colon + slot


def _computed(graphs: Sequence[Any], added: str) -> Computed:
    """Arguments by their numbers: their names are made anew for each function."""
    nodes = [node for graph in graphs for node in graph.node if not node.name.startswith(added)]
    arguments = {node.name: f"argument {node.attr['index'].i}" for node in nodes if node.op in ARGUMENTS}
    return {
        node.name: (node.op, [arguments.get(text, text) for text in node.input if text[0] != "^"], node.device)
        for node in nodes
        if node.op not in (*ARGUMENTS, *RESULTS)
    }


def function_of(name: str, graph: graph_pb2.GraphDef, like: Any, controls: Sequence[str], make: Any) -> Any:
    """A function of the runtime that computes the graph.

    Args:
        like: the FuncGraph that it was made of; its arguments and results are the new one's.
        controls: names of nodes that must run though no result needs them.
        make: ``atomic_function.from_func_graph``.
    """
    inputs: dict[int, str] = {}
    results: dict[int, str] = {}
    body = graph_pb2.GraphDef(versions=graph.versions)
    for node in graph.node:
        if node.op in RESULTS:
            results[node.attr["index"].i] = node.input[0]
            continue
        copy = body.node.add()
        copy.CopyFrom(node)
        copy.attr.pop("_class", None)  # may name nodes that are gone; each has its device
        if node.op in ARGUMENTS:
            inputs[node.attr["index"].i] = node.name
            copy.op = "Placeholder"
            dtype = node.attr["T"].type
            copy.attr.clear()
            copy.attr["dtype"].type = dtype
    with context.graph_mode():  # nothing of this is the user's: no tape, no scope, no callback
        made = func_graph.FuncGraph(name)
        with made.as_default(), ops.control_dependencies(None):
            for index, argument in enumerate(like.inputs):
                if index not in inputs:  # nothing reads it
                    inputs[index] = f"tdbg_argument_{index}"
                    spare = body.node.add(name=inputs[index], op="Placeholder")
                    spare.attr["dtype"].type = argument.dtype.as_datatype_enum
            importer.import_graph_def(body, name="")
            made.inputs = [made.get_tensor_by_name(f"{inputs[at]}:0") for at in sorted(inputs)]
            made.outputs = [made.get_tensor_by_name(_tensor_name(results[at])) for at in sorted(results)]
            made.control_outputs = [made.get_operation_by_name(control) for control in controls]
    return make(name, made, {})


def _tensor_name(text: str) -> str:
    return text if ":" in text else f"{text}:0"
