"""Joins the partition graphs of a run to one graph of numbered ops: connected across devices, in an order in which they
can run, with their loops, phases and the ops that they differentiate.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tdbg.formats.dumps.edges import DEBUG_PREFIX, Edges, as_dumped, is_debuggers
from tdbg.formats.dumps.graph_def import Node
from tdbg.formats.dumps.names import MOST_SLOTS, split_element
from tdbg.frameworks.tensorflow.ops import writes_variable
from tdbg.model import DType, Phase

UNKNOWN_TYPE = "unknown"
VARIABLES = ("VarHandleOp", "VariableV2", "Variable", "TemporaryVariable")
_FEED = re.compile(r"_arg_(?P<node>.+)_(?P<slot>\d+)_\d+")
_FETCH = re.compile(r"_retval_(?P<node>.+)_(?P<slot>\d+)_\d+")
_GRADIENTS = re.compile(r"(?P<scope>.*/)?gradients(?:_\d+)?/(?P<rest>.*)")  # the innermost, for a loop has its own
_OUTPUT_NUMBER = re.compile(r"_\d+$")  # that is put behind the names of ops in functions
_COMPOSITION, _COMPOSED = "_UnaryOpsComposition", "/unary_ops_composition"
_MKL = re.compile(r"_Mkl(?:Native)?(?P<type>\w+)")
NEXT_ITERATION = ("NextIteration", "RefNextIteration")
# They hand on what they are given: lineage looks through them, and loops are followed by them.
HAND_ON = frozenset(
    """Identity RefIdentity Enter RefEnter Exit RefExit NextIteration RefNextIteration Merge RefMerge Switch RefSwitch
    LoopCond _Recv _HostRecv""".split()
)
_SENDS, _RECEIVES = ("_Send", "_HostSend"), ("_Recv", "_HostRecv")
_TRANSFERS = (*_SENDS, *_RECEIVES)
_NUMBERED = re.compile(r"(?P<node>.*)/_(?P<number>\d+)")
_ENTER, _EXIT = ("Enter", "RefEnter"), ("Exit", "RefExit")
Place = tuple[str, str]  # device and name of a node


@dataclass
class Op:
    """One node of a runtime graph."""

    number: int
    graph: int
    name: str  # a feed has the name of what was fed, not the runtime's own
    type: str
    device: str
    inputs: list[tuple[int, int]] = field(default_factory=list)  # op and slot, -1 where that is not in the graph
    controls: list[int] = field(default_factory=list)
    attributes: dict[str, Any] = field(default_factory=dict)
    phase: Phase = Phase.FORWARD
    forward: int = -1
    loops: tuple[str, ...] = ()  # around its outputs, the outermost first
    is_feed: bool = False
    is_watched: bool = False  # the debugger put a node behind it
    has_rows: bool = False
    dtypes: dict[int, int] = field(default_factory=dict)  # by slot, as far as its tensors tell

    @property
    def observed(self) -> bool:
        """Whether lineage ends its look at this op."""
        return self.has_rows and self.type not in HAND_ON


@dataclass
class RuntimeGraph:
    """What one set of fetches and feeds made TensorFlow run."""

    number: int
    ops: dict[Place, Op]
    results: list[tuple[int, int]]  # what was fetched
    conditions: dict[str, int] = field(default_factory=dict)  # the LoopCond of each loop

    @property
    def variables(self) -> list[Op]:
        return [op for op in self.ops.values() if op.type in VARIABLES]

    @property
    def trains(self) -> bool:
        return any(op.phase == Phase.UPDATE for op in self.ops.values())

    @property
    def makers(self) -> list[Op]:
        """The ops of which another takes an output."""
        taken = {source for op in self.ops.values() for source, _ in op.inputs}
        return [op for op in self.ops.values() if op.number in taken and op.type not in _SENDS]

    def op_of(self, device: str, node: str, next_number: int) -> Op:
        """The op of a dump; made up when the graph does not have it."""
        op = self.ops.get((device, node))
        if op is None:
            op = self.ops[device, node] = Op(next_number, self.number, node, UNKNOWN_TYPE, device)
        return op


class Partition:
    """The graph of one device, with transfers from and to others under names that are the same in every run.

    The runtime numbers them anew whenever it makes an executor: ``a/_5`` in one run is ``a/_9`` in the next.
    """

    def __init__(self, device: str, nodes: list[Node]) -> None:
        self.device, self.nodes = device, nodes
        self.lasting_names = _lasting_names(nodes)
        for node in nodes if self.lasting_names else ():
            node.name = self.name_of(node.name)
            node.input = [self._element(element) for element in node.input]
        self.edges = Edges(nodes)

    def name_of(self, runtime_name: str) -> str:
        return self.lasting_names.get(runtime_name, runtime_name)

    def _element(self, element: str) -> str:
        if element.startswith("^"):
            return f"^{self.name_of(element[1:])}"
        node, slot = split_element(element)
        return self.name_of(node) if slot is None else f"{self.name_of(node)}:{slot}"

    def lines(self) -> Iterator[str]:
        """What tells it from other graphs."""
        edges = self.edges
        for name, op_type in edges.op_types.items():
            yield "\0".join((self.device, name, op_type, *edges.inputs[name], "^", *edges.control_inputs[name]))


def _lasting_names(nodes: list[Node]) -> dict[str, str]:
    found: dict[str, str] = {}
    counts: dict[tuple[str, str], int] = defaultdict(int)
    numbered = [(match, node) for node in nodes if node.op in _TRANSFERS and (match := _NUMBERED.fullmatch(node.name))]
    for match, node in sorted(numbered, key=lambda pair: int(pair[0]["number"])):
        place = (match["node"], node.op)
        found[node.name] = f"{match['node']}/{node.op}_{counts[place]}"
        counts[place] += 1
    return found


def build_graph(number: int, first_op: int, partitions: Sequence[Partition]) -> RuntimeGraph:
    """Numbers the ops from ``first_op`` on."""
    nodes: dict[Place, Node] = {}
    inputs: dict[Place, list[Place | None]] = {}
    slots: dict[Place, list[int]] = {}
    controls: dict[Place, list[Place]] = {}
    watched: set[Place] = set()
    for part in partitions:
        device, edges = part.device, part.edges
        nodes |= {(device, as_dumped(node.name)): node for node in part.nodes if not is_debuggers(node.name)}
        for name, elements in edges.inputs.items():
            split = [split_element(element) for element in elements]
            inputs[device, name] = [(device, source) for source, _ in split]
            slots[device, name] = [min(slot or 0, MOST_SLOTS) for _, slot in split]
        for name, sources in edges.control_inputs.items():
            controls[device, name] = [(device, source) for source in sources]
        watched |= {(device, part.name_of(name)) for name in _watched_names(part.nodes)}
    attributes = {place: node.attributes() for place, node in nodes.items()}
    _join_devices(nodes, attributes, inputs, slots)
    graph = RuntimeGraph(number, {}, [])
    for place in _in_order(nodes, inputs, controls):
        graph.ops[place] = _op(first_op + len(graph.ops), number, place[0], nodes[place], attributes[place])
    for place, op in graph.ops.items():
        found = [graph.ops.get(source) if source else None for source in inputs[place]]
        op.inputs = [(one.number if one else -1, slot) for one, slot in zip(found, slots[place], strict=True)]
        op.controls = [graph.ops[source].number for source in controls[place] if source in graph.ops]
        op.is_watched = place in watched
        if op.type == "_Retval" and _FETCH.fullmatch(place[1]) and op.inputs:
            graph.results.append(op.inputs[0])
    _find_handles(graph)
    _add_parts(graph, first_op)
    _find_loops(graph)
    _find_forward_ops(graph)
    return graph


def _watched_names(nodes: Iterable[Node]) -> Iterator[str]:
    for node in nodes:
        if node.name.startswith(DEBUG_PREFIX):
            tensor = as_dumped(node.name).removeprefix(DEBUG_PREFIX).rsplit("_", 2)[0]
            yield split_element(tensor)[0]


def _join_devices(
    nodes: dict[Place, Node],
    attributes: dict[Place, dict[str, Any]],
    inputs: dict[Place, list[Place | None]],
    slots: dict[Place, list[int]],
) -> None:
    """What one device receives is what another sent under the same name."""
    sent = {attributes[place].get("tensor_name"): place for place, node in nodes.items() if node.op in _SENDS}
    for place, node in nodes.items():
        if node.op in _RECEIVES:
            sender = sent.get(attributes[place].get("tensor_name"))
            if sender is not None:
                inputs[place], slots[place] = [sender], [0]


def _in_order(
    nodes: dict[Place, Node], inputs: dict[Place, list[Place | None]], controls: dict[Place, list[Place]]
) -> list[Place]:
    """Each node behind those that it waits for; what a loop hands to its next round is not waited for."""

    def waits_for(place: Place) -> Iterator[Place]:
        for source in (*inputs[place], *controls[place]):
            if source in nodes and nodes[source].op not in NEXT_ITERATION:
                yield source

    done: dict[Place, bool] = {}  # False while it waits
    order: list[Place] = []
    for start in nodes:
        pending = [(start, waits_for(start))] if start not in done else []
        done.setdefault(start, False)
        while pending:
            place, rest = pending[-1]
            source = next(rest, None)
            if source is None:
                pending.pop()
                if not done[place]:
                    done[place] = True
                    order.append(place)
            elif source not in done:
                done[source] = False
                pending.append((source, waits_for(source)))
    return order


def _op(number: int, graph: int, device: str, node: Node, attributes: dict[str, Any]) -> Op:
    name = as_dumped(node.runtime_name)
    fed = _FEED.fullmatch(name) if node.op in ("_Arg", "_Recv") else None
    if fed is not None:
        attributes = attributes | {"runtime_name": name, "runtime_type": node.op}
        return Op(number, graph, fed["node"], "Placeholder", device, attributes=attributes, is_feed=True)
    op_type, phase = _plain_type(node.op), phase_of_node(name, node.op)
    if op_type != node.op:
        attributes = attributes | {"runtime_type": node.op}
    return Op(number, graph, name, op_type, device, attributes=attributes, phase=phase)


def _plain_type(op_type: str) -> str:
    """Without oneDNN's prefix: ``_MklMatMul`` computes what MatMul does."""
    match = _MKL.fullmatch(op_type)
    if match is None:
        return op_type
    return f"_{match['type']}" if match["type"].startswith("Fused") else match["type"]


def phase_of_node(name: str, op_type: str) -> Phase:
    """By names, as TensorFlow's gradients and optimizers give them: dumps hold no stacks."""
    if _GRADIENTS.match(name):
        return Phase.BACKWARD
    if writes_variable(op_type):
        return Phase.OTHER if name.endswith("/Assign") else Phase.UPDATE  # that is how a variable's first value is set
    return Phase.FORWARD


def _find_handles(graph: RuntimeGraph) -> None:
    """A handle stands for its variable by whatever way it got into a loop, and what is taken off a stack comes from
    what was put on it."""
    by_number = {op.number: op for op in graph.ops.values()}

    def behind(source: tuple[int, int]) -> tuple[int, int]:
        seen: set[int] = set()
        while source[0] in by_number and source[0] not in seen:
            seen.add(source[0])
            op = by_number[source[0]]
            if op.type not in HAND_ON or op.attributes.get("T") != DType.RESOURCE.label or not op.inputs:
                break
            source = op.inputs[0]
        return source

    for op in graph.ops.values():
        op.inputs = [behind(source) for source in op.inputs]
    pushes = [op for op in graph.ops.values() if op.type.startswith("StackPush") and len(op.inputs) > 1]
    for op in graph.ops.values():
        if op.type.startswith("StackPop"):
            op.inputs += [push.inputs[1] for push in pushes if push.inputs[0] == op.inputs[0]]


def _add_parts(graph: RuntimeGraph, first_op: int) -> None:
    """Rows for the ops that TensorFlow's optimizer made one of: only the last one's name is known."""
    for (device, _), op in list(graph.ops.items()):
        types = op.attributes.get("op_names") if op.type == _COMPOSITION else None
        if not isinstance(types, list) or not op.name.endswith(_COMPOSED):
            continue
        last = op.name.removesuffix(_COMPOSED)
        names = [f"{last}/{kind}_{n}" for n, kind in enumerate(types[:-1])] + [last]
        op.attributes["_stands_for"] = ", ".join(
            f"{name} ({kind})" for name, kind in zip(reversed(names), reversed(types), strict=True)
        )
        for name, kind in zip(names, types, strict=True):
            part = Op(first_op + len(graph.ops), graph.number, name, kind, device, phase=op.phase, forward=op.forward)
            graph.ops.setdefault((device, name), part)


def _find_loops(graph: RuntimeGraph) -> None:
    """From the frames that Enter opens and Exit leaves; ops are in an order in which they can run."""
    by_number = {op.number: op for op in graph.ops.values()}
    for op in graph.ops.values():
        sources = [by_number[source] for source, _ in op.inputs if source in by_number]
        sources += [by_number[source] for source in op.controls]
        around = max((source.loops for source in sources if source.number < op.number), key=len, default=())
        if op.type in _ENTER:
            around = (*around, str(op.attributes.get("frame_name")))
        op.loops = around[:-1] if op.type in _EXIT else around
        if op.type == "LoopCond" and around:
            graph.conditions[around[-1]] = op.number


def _find_forward_ops(graph: RuntimeGraph) -> None:
    """``gradients/a/b_grad/mul`` differentiates ``a/b``, or what TensorFlow's optimizer made of it (``a/b/…``); in the
    body of a loop, which has scopes of its own, the only op there is of that name (``loop/body/_4/a/b_0``)."""
    forward = [op for op in graph.ops.values() if op.phase != Phase.BACKWARD]
    by_name = {op.name: op for op in forward}
    by_prefix: dict[str, Op] = {}
    by_end: dict[str, list[Op]] = defaultdict(list)
    for op in forward:
        if op.phase == Phase.FORWARD and "/" in op.name:
            by_prefix.setdefault(op.name.rpartition("/")[0], op)
            by_end[_OUTPUT_NUMBER.sub("", op.name.rpartition("/")[2])].append(op)
    for op in graph.ops.values():
        match = _GRADIENTS.match(op.name) if op.phase == Phase.BACKWARD else None
        if match is None or "_grad/" not in match["rest"]:
            continue
        name = match["rest"].partition("_grad/")[0]
        in_body = [
            one
            for one in by_end.get(name.rpartition("/")[2], ())
            if match["scope"] and _OUTPUT_NUMBER.sub("", one.name).endswith(f"/{name}")
        ]
        found = by_name.get(name) or by_prefix.get(name) or (in_body[0] if len(in_body) == 1 else None)
        if found is not None:
            op.forward = found.number
