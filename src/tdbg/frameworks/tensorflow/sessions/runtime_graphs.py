"""Writes the rows of the graphs that TensorFlow's runtime makes for a run, and tells each tensor's kernel what it has
to know.

The runtime publishes a graph, after Grappler and with the debug nodes in it, before it makes the kernels. So a kernel
that asks finds its op here, and its row is written before its first event.
"""

from __future__ import annotations

import glob
import os
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from tensorflow.core.framework import graph_pb2
from tensorflow.core.util import event_pb2
from tensorflow.python.framework import tensor_util

from tdbg.capture.policy import Policy
from tdbg.capture.source import Sources
from tdbg.frameworks.tensorflow.capture import attributes
from tdbg.frameworks.tensorflow.capture.breaks import OpBreaks
from tdbg.frameworks.tensorflow.capture.held_op import Known
from tdbg.frameworks.tensorflow.capture.op_kinds import ENTRANCES, SILENT
from tdbg.frameworks.tensorflow.capture.signatures import NOT_TRACED
from tdbg.frameworks.tensorflow.ops import PARSERS, RISKY, SAFE, in_words, writes_variable
from tdbg.frameworks.tensorflow.sessions.client_graphs import ClientGraphs
from tdbg.frameworks.tensorflow.sessions.debug_nodes import Tensor, take_out, tensor_of
from tdbg.frameworks.tensorflow.sessions.matching import Given, Match, Matching, Part, Written, fed_name
from tdbg.frameworks.tensorflow.sessions.node_types import output_dtypes
from tdbg.model import DType, Flag, Mode, Phase

OP = "TdbgSession"
_PLUMBING = frozenset("_Send _Recv _HostSend _HostRecv _Retval _DeviceRetval".split())
_SENT = re.compile(r"edge_\d+_(.+)$")
_CALLS = ("PartitionedCall", "StatefulPartitionedCall")
_REFERENCES = ("VariableV2", "Variable")  # where they are made is where they are read
_RISKY = RISKY | {"_UnaryOpsComposition"}
_CARRY_HANDLES = frozenset("Identity Enter Switch RefSwitch Merge RefMerge NextIteration Exit RefEnter".split())
_FROM_ARRAYS = ("TensorArrayRead", "TensorArrayGather", "TensorArrayConcat")  # the others give a flow, not values


class RuntimeGraph:
    """All partitions of one set of fetches and feeds, as one graph of the trace."""

    def __init__(
        self, number: int, folder: str, graph: Any, variables: list[str], recorder: Any, sources: Sources,
        policy: Policy, clients: ClientGraphs, next_op: Callable[[], int], breaks: OpBreaks | None = None,
        elsewhere: dict[int, int] | None = None,
    ) -> None:  # fmt: skip
        self._breaks = breaks
        self.number, self._folder, self._variables = number, folder, variables
        self._recorder, self._sources, self._policy, self._next_op = recorder, sources, policy, next_op
        self._matching = Matching(clients, graph)
        self._is_health = recorder.config.mode == Mode.HEALTH
        self._written: set[str] = set()
        self._numbers: dict[str, int] = {}
        self._clients = clients
        self._by_client: dict[int, int] = {}  # ClientOp.number -> op of this graph
        self._elsewhere = elsewhere if elsewhere is not None else {}  # the same of graphs that this one differentiates
        self.phases: set[Phase] = set()
        self._targets: set[int] = set()  # already written
        self._results: dict[int, Tensor] = {}
        self._kernels: dict[str, tuple] = {}
        self._lock = threading.Lock()

    def kernel(self, tensor: str) -> tuple | None:
        """(op, slot, graph, flags, has row, readers, inputs) for the tensor's kernel; None: nothing to do."""
        with self._lock:
            if tensor not in self._kernels:
                self._read_published()
            return self._kernels.get(tensor)

    @property
    def watches(self) -> list[Tensor]:
        """The tensors whose kernels have something to do."""
        with self._lock:
            return [(name.rpartition(":")[0], kernel[1]) for name, kernel in self._kernels.items()]

    def _read_published(self) -> None:
        for file in sorted(glob.glob(os.path.join(self._folder, "_tfdbg_device*", "_tfdbg_graph*"))):
            with open(file, "rb") as stream:
                event = event_pb2.Event.FromString(stream.read())
            self._learn(graph_pb2.GraphDef.FromString(event.graph_def))
            os.unlink(file)

    def _number(self, name: str) -> int:
        number = self._numbers.get(name)
        if number is None:
            number = self._numbers[name] = self._next_op()
        return number

    # ---- one partition

    def _learn(self, graph: Any) -> None:
        take_out(graph)
        nodes = {node.name: node for node in graph.node}
        if nodes.keys() <= self._written:  # the same executor, made anew
            return
        self._written |= nodes.keys()
        inputs = {name: [tensor_of(text) for text in node.input if text[0] != "^"] for name, node in nodes.items()}
        controls = {name: [text[1:] for text in node.input if text[0] == "^" and text[1:] in nodes]
                    for name, node in nodes.items()}  # fmt: skip
        order = list(_in_order(nodes, inputs, controls))
        matches = {name: self._matching.of(nodes[name]) for name in order}
        for name in order:
            self._number(name)
            match = matches[name]
            if (
                match.op is not None
                and not match.together
                and (match.is_same or match.op.number not in self._by_client)
            ):
                self._by_client[match.op.number] = self._numbers[name]
        given = {name: _given(nodes[name]) for name in order}
        kept = nodes.keys() | {one.name for one in given.values() if one is not None}
        parts = {name: self._matching.parts(nodes[name], matches[name], kept) for name in order}
        written = {}
        for name in order:
            names = [given.get(source) or Given(source, slot) for source, slot in inputs[name]]
            written[name] = self._matching.as_written(nodes[name], matches[name], parts[name], names)
        told = [name for name in order if nodes[name].op != "Const" or written[name]]
        gone = {part.name: part.op for name in told for part in parts[name]}
        gone = {name: op for name, op in gone.items() if name not in nodes and name not in self._numbers}
        for name, op in gone.items():
            self._by_client[op.number] = self._number(name)
        dtypes = {name: output_dtypes(nodes[name]) for name in order}
        types = {name: self._matching.type_of(nodes[name], matches[name]) for name in order}
        slots: dict[str, list[int]] = {}
        used = {source for name in order if not writes_variable(types[name]) for source, _ in inputs[name]}
        for name in order:
            node, match = nodes[name], matches[name]
            if node.op == "_Retval":
                self._results[node.attr["index"].i] = inputs[name][0]
            if node.op in _PLUMBING and not dtypes[name]:
                continue
            is_state = types[name] in _REFERENCES and name not in used  # which only an optimizer knows
            if not is_state or self._recorder.config.every_op:
                slots[name] = self._slots(node, types[name], match.op, parts[name], dtypes[name])
            read = self._inputs(name, nodes, inputs)
            self._write(node, types[name], match, parts[name], written[name], read, dtypes[name],
                        bool(slots.get(name)))  # fmt: skip
            for part, reads in written[name][1:]:
                if part.name in gone:
                    self._write_gone(
                        part.name, gone.pop(part.name), [read[r] if isinstance(r, int) else r for r in reads]
                    )
            self._may_hold(node, types[name], match.op, dtypes[name], slots.get(name, []))
            for before in controls[name]:
                if nodes[before].op not in _PLUMBING:
                    self._recorder.add("controls", (self._numbers[name], self._numbers[before]))
        for name, op in gone.items():
            made = [(tensor.op.name, tensor.value_index) for tensor in self._matching.inputs(op)]
            self._write_gone(name, op, [tensor for tensor in made if tensor[0] in self._numbers])
        for client, number in self._by_client.items():
            self._elsewhere.setdefault(client, number)
        self._write_targets()
        risky = {name for name in order if types[name] in _RISKY or any(p.op.type in _RISKY for p in parts[name])}
        self._make_kernels(nodes, inputs, types, dtypes, slots, risky)
        self._write_function()

    def _inputs(self, name: str, nodes: dict[str, Any], inputs: dict[str, list[Tensor]]) -> list[Tensor]:
        """A variable's handle stands for the variable, by whatever way it got into a loop, a stack's handle for what
        was put on the stack, and what another device sent for the op there."""
        if nodes[name].op in ("_Recv", "_HostRecv"):
            sent = _SENT.match(nodes[name].attr["tensor_name"].s.decode())
            return [(sent[1], 0)] if sent else []
        found = [_handle(tensor, nodes, inputs) for tensor in inputs[name]]
        if nodes[name].op.startswith("StackPop"):
            pushes = [own for other, own in inputs.items() if nodes[other].op.startswith("StackPush")]
            found += [own[1] for own in pushes if _handle(own[0], nodes, inputs) == found[0]]
        return found

    def _write(
        self, node: Any, op_type: str, match: Match, parts: list[Part], written: list[Written], inputs: list[Tensor],
        dtypes: list[DType], observed: bool,
    ) -> None:  # fmt: skip
        op = match.op
        fed = fed_name(node.name) if node.op == "_Arg" else None
        attrs: dict[str, Any] = {key: value for key, value in node.attr.items() if key[0] != "_"}
        if match.together:
            attrs["_together"] = match.together
        elif parts:
            attrs["_stands_for"] = ", ".join(f"{part.name} ({part.op.type})" for part in parts)
        if written:
            attrs["_computed_by"] = node.op
            attrs["_given_to"] = _readers_of(written, len(inputs))
            inputs = _resolved(written[0].reads, inputs)
        number = self._numbers[node.name]
        phase = Phase.OTHER if op is None else Phase.FORWARD if op_type in _REFERENCES else op.phase
        self.phases.add(phase)
        self._recorder.add(
            "ops",
            (
                number,
                self.number,
                fed[0] if fed else node.name,
                op_type,
                node.device,
                [self._number(name) for name, _ in inputs],
                [slot for _, slot in inputs],
                [int(dtype) for dtype in dtypes],
                attributes.as_text(attrs),
                op.stack if op is not None else -1,
                int(phase),
                self._differentiated(op) if op is not None else -1,
                observed,
                *in_words(op_type),
            ),
        )
        is_constant = node.op == "Const" and dtypes[0].is_floating and not observed
        if is_constant and self._wants(node, op_type, op, parts):
            self._recorder.push_array(
                number, 0, self.number, Flag.INPUT, tensor_util.MakeNdarray(node.attr["value"].tensor)
            )

    def _may_hold(self, node: Any, op_type: str, op: Any, dtypes: list[DType], slots: list[int]) -> None:
        if self._breaks is not None and self._breaks.is_on and slots:
            name, phase = op.name if op is not None else node.name, Phase.OTHER if op is None else op.phase
            stack = op.stack if op is not None else -1
            known = Known(op_type, name, phase, node.device, stack, -1, "Session.run", dtypes)
            self._breaks.learn(self._numbers[node.name], known, slots)

    def _write_gone(self, name: str, op: Any, inputs: list[Tensor]) -> None:
        """An op of the program that became part of another: gradients and causes refer to it all the same."""
        attrs = self._matching.attributes(op)
        self._recorder.add(
            "ops",
            (
                self._numbers[name],
                self.number,
                name,
                op.type,
                "",
                [self._number(source) for source, _ in inputs],
                [slot for _, slot in inputs],
                [],
                attributes.as_text(attrs),
                op.stack,
                int(op.phase),
                self._differentiated(op),
                False,
                *in_words(op.type),
            ),
        )

    def _differentiated(self, op: Any) -> int:
        """The op whose gradient an op of the program is a part of; -1: none."""
        return self._by_client.get(op.forward, self._elsewhere.get(op.forward, -1)) if op.forward >= 0 else -1

    def _write_targets(self) -> None:
        """Which of its tensors the program takes gradients of."""
        for client, (slot, variables) in self._clients.targets.items():
            number = self._by_client.get(client)
            if number is not None and number not in self._targets:
                self._targets.add(number)
                self._recorder.add("targets", (number, slot, -1, variables))

    def _write_function(self) -> None:
        """As if the run were the call of a function whose arguments are the variables: so they are followed from run to
        run."""
        results = [self._results[index] for index in sorted(self._results)]
        self._recorder.add(
            "functions",
            (
                f"Session.run of graph {self.number}",
                self.number,
                [self._numbers.get(name, -1) for name in self._variables],
                [self._number(name) for name, _ in results],
                [slot for _, slot in results],
                *NOT_TRACED,
            ),
        )

    # ---- what is recorded

    def _slots(self, node: Any, op_type: str, op: Any, parts: list[Part], dtypes: list[DType]) -> list[int]:
        config = self._recorder.config
        if not config.records or config.mode in (Mode.NONE, Mode.EDGES) or node.op in _PLUMBING:
            return []
        is_call = op_type in _CALLS  # of a function that is not in this graph, and cannot be looked into
        if not config.every_op and (
            (op_type in SILENT and not is_call)
            or op_type == "Const"
            or writes_variable(op_type)  # a reference, to what is read in the next run
            or (op_type.startswith("TensorArray") and not op_type.startswith(_FROM_ARRAYS))
            or (self._is_health and op_type in SAFE and not parts)
        ):
            return []
        if self._is_health and op_type == "ReadVariableOp" and op is not None and op.phase == Phase.UPDATE:
            return []
        wanted = self._policy.input_dtypes if op_type in ENTRANCES else self._policy.dtypes
        slots = [slot for slot, dtype in enumerate(dtypes) if dtype in wanted]
        return slots if slots and self._wants(node, op_type, op, parts) else []

    def _wants(self, node: Any, op_type: str, op: Any, parts: list[Part]) -> bool:
        if not self._policy.is_filtered:
            return True
        user = self._sources.info(op.stack).user if op is not None else None
        file = user.file if user is not None else ""
        fed = fed_name(node.name) if node.op == "_Arg" else None
        written = [(op_type, fed[0] if fed else node.name), (node.op, node.name)]
        written += [(part.op.type, part.name) for part in parts]
        written += [(op.type, op.name)] if op is not None and not parts else []
        return any(self._policy.wants_op(kind, name, file) for kind, name in written)

    def _make_kernels(
        self, nodes: dict[str, Any], inputs: dict[str, list[Tensor]], types: dict[str, str],
        dtypes: dict[str, list[DType]], slots: dict[str, list[int]], risky: set[str],
    ) -> None:  # fmt: skip
        """The inputs of ops that can make bad values are held until their first output was looked at."""
        taken: dict[str, list[Tensor]] = {}
        if self._recorder.config.values_when_bad:
            for name, recorded in slots.items():
                if 0 in recorded and name in risky:
                    takes_text = types[name] in PARSERS
                    known = [t for t in inputs[name] if t[0] in dtypes]
                    taken[name] = [t for t in known if takes_text or _dtype(dtypes, t).is_number]
        readers = Counter(tensor for tensors in taken.values() for tensor in tensors)
        for name, own in dtypes.items():
            flags = int(Flag.INPUT) if types[name] in ENTRANCES else 0
            for slot in range(len(own)):
                has_row = slot in slots.get(name, ())
                evidence = tuple(self._number(t[0]) << 16 | t[1] for t in taken.get(name, ())) if slot == 0 else ()
                if has_row or readers[name, slot]:
                    self._kernels[f"{name}:{slot}"] = (
                        self._numbers[name], slot, self.number, flags, has_row, readers[name, slot], evidence,
                    )  # fmt: skip


def _given(node: Any) -> Given | None:
    """What the program calls a tensor that comes in under a name of the runtime's."""
    if node.op in ("_Recv", "_HostRecv"):
        sent = _SENT.match(node.attr["tensor_name"].s.decode())
        return Given(sent[1], 0) if sent else None
    fed = fed_name(node.name) if node.op == "_Arg" else None
    return Given(*fed) if fed else None


def _resolved(reads: list[Tensor | int], inputs: list[Tensor]) -> list[Tensor]:
    return [inputs[read] if isinstance(read, int) else read for read in reads]


def _readers_of(written: list[Written], count: int) -> str:
    """Of each input of a node: the part that reads it, and as which of its inputs."""
    found = {read: f"{part.name}:{at}" for part, reads in written for at, read in enumerate(reads)}
    return ", ".join(found.get(read, "?") for read in range(count))


def _handle(tensor: Tensor, nodes: dict[str, Any], inputs: dict[str, list[Tensor]]) -> Tensor:
    """Where a handle comes from; other tensors are given back as they are."""
    seen = set()
    while tensor[0] in nodes and tensor[0] not in seen and nodes[tensor[0]].op in _CARRY_HANDLES:
        seen.add(tensor[0])
        if DType.RESOURCE not in output_dtypes(nodes[tensor[0]])[:1]:
            break
        tensor = inputs[tensor[0]][0]
    return tensor


def _in_order(
    nodes: dict[str, Any], inputs: dict[str, list[Tensor]], controls: dict[str, list[str]]
) -> Iterator[str]:  # fmt: skip
    """Each node after those that it needs; the way back of a loop does not count."""
    done: set[str] = set()
    for first in nodes:
        waiting = [(first, False)]
        while waiting:
            name, is_ready = waiting.pop()
            if name in done:
                continue
            if is_ready:
                done.add(name)
                yield name
                continue
            waiting.append((name, True))
            before = [source for source, _ in inputs[name]] + controls[name]
            waiting += [
                (other, False)
                for other in before
                if other in nodes and other not in done and nodes[other].op not in ("NextIteration", "RefNextIteration")
            ]


def _dtype(dtypes: dict[str, list[DType]], tensor: Tensor) -> DType:
    own = dtypes[tensor[0]]
    return own[tensor[1]] if tensor[1] < len(own) else DType.UNKNOWN
