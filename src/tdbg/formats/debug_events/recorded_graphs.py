"""Reads the files of sources, stack frames and graphs as rows: numbered frames, stacks, graphs and ops."""

from __future__ import annotations

import json
import os
import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tdbg.formats.debug_events.clock import to_ns
from tdbg.formats.debug_events.file_sets import FileSet
from tdbg.formats.debug_events.messages import Device, Graph, GraphOp, SourceFile, StackFrame, parse, parse_location
from tdbg.formats.debug_events.records import RecordFile
from tdbg.formats.debug_events.wire import WireError
from tdbg.frames import is_user_file_elsewhere
from tdbg.frameworks import phase_of
from tdbg.frameworks.tensorflow.ops import in_words, writes_variable
from tdbg.model import Phase

_GRADIENT_FILE = re.compile(r"[/\\]ops[/\\]\w*_grad\.py$")
_GRADIENT_FUNCTION = re.compile(r"_?(?P<type>\w+?)(V\d)?(Grad\w*)?$")
UNKNOWN_TYPE = "unknown"


class Stack(NamedTuple):
    """What is known of one interned stack."""

    number: int = -1
    phase: Phase | None = None
    gradient_of: str = ""  # the op type whose gradient function is on the stack
    script: str = ""  # the outermost file of the user's own code


@dataclass
class Op:
    """One op of a graph, or one place of the program that ran an eager op (graph -1)."""

    number: int
    graph: int
    name: str
    type: str
    device: str
    inputs: list[str]
    stack: Stack
    phase: Phase
    outputs: int = 0
    dtypes: dict[int, int] = field(default_factory=dict)  # by slot, as far as its tensors tell
    attributes: dict[str, str] = field(default_factory=dict)
    observed: bool = False


class _Frame(NamedTuple):
    number: int
    file: str
    function: str
    is_user: bool


class Program:
    """What one process built: its own files, or for a helper process of a distributed run those of the main one."""

    def __init__(self, files: FileSet) -> None:
        self.host = ""
        self.graph_numbers: dict[str, int] = {}
        self.graphs: list[Graph] = []
        self.graph_times: list[float] = []
        self.ops: list[Op] = []
        self.by_name: dict[tuple[int, str], int] = {}  # (graph, name) -> op
        self.devices: dict[int, str] = {}
        self.unknown_ops = 0  # that have tensors and whose creation is not in the files
        self.lost_frames = 0
        self._sources: list[tuple[SourceFile, float]] = []
        self._frames: dict[str, _Frame] = {}
        self._frame_rows: list[tuple[int, str, int, str, bool]] = []
        self._stack_rows: list[tuple[int, int, int]] = []
        self._stack_numbers: dict[tuple[int, int], int] = {}
        self._stacks: dict[bytes, Stack] = {}
        self._sites: dict[tuple[str, int], int] = {}
        self._read_sources(files.files["source_files"])
        self._read_frames(files.files["stack_frames"])
        self._read_graphs(files.files["graphs"])
        self._name_inner_graphs()

    # ---- files

    def _read_sources(self, file: RecordFile) -> None:
        for time, message in _messages(file, SourceFile):
            self._sources.append((message, time))

    def _read_frames(self, file: RecordFile) -> None:
        numbers: dict[tuple[str, int, str], int] = {}
        is_user: dict[str, bool] = {}
        for _, frame in _messages(file, StackFrame):
            if frame.file < len(self._sources):
                path = _plain_path(self._sources[frame.file][0].path)
            else:
                path, self.lost_frames = "<unknown>", self.lost_frames + 1
            if path not in is_user:
                is_user[path] = is_user_file_elsewhere(path)
            key = (path, frame.line, frame.function)
            number = numbers.setdefault(key, len(numbers))
            if number == len(self._frame_rows):
                self._frame_rows.append((number, *key, is_user[path]))
            self._frames[frame.id] = _Frame(number, path, frame.function, is_user[path])

    def _read_graphs(self, file: RecordFile) -> None:
        for time, message in _messages(file, GraphOp, Graph, Device):
            if isinstance(message, Graph):
                self._add_graph(message, time)
            elif isinstance(message, Device):
                self.devices[message.id] = message.name
            else:
                self._add_op(message, time)

    def _add_graph(self, graph: Graph, time: float) -> int:
        number = self.graph_numbers.setdefault(graph.id, len(self.graphs))
        if number == len(self.graphs):
            self.graphs.append(graph)
            self.graph_times.append(time)
        return number

    def _add_op(self, made: GraphOp, time: float) -> None:
        number = self.graph_numbers.get(made.graph_id)
        if number is None:  # its own record was lost
            number = self._add_graph(Graph(made.graph_id, made.graph_name), time)
        stack = self.stack(made.location)
        op = Op(
            len(self.ops), number, made.name, made.type, made.device, made.inputs, stack,
            _phase(made.type, stack), made.outputs,
        )  # fmt: skip
        self.ops.append(op)
        self.by_name.setdefault((number, made.name), op.number)

    def _name_inner_graphs(self) -> None:
        """A loop or a condition tells its graphs only through their names: ``a_while_body_1`` of ``a/while``."""
        inner: dict[int, list[str]] = defaultdict(list)
        for graph in self.graphs:
            if graph.outer in self.graph_numbers:
                inner[self.graph_numbers[graph.outer]].append(graph.name)
        for op in self.ops:
            if not op.type.endswith(("While", "If")):
                continue
            scope = re.escape(op.name.replace("/", "_"))
            for name in inner[op.graph]:
                match = re.fullmatch(scope + r"_(body|cond|true|false)_\d+", name)
                if match is not None:
                    op.attributes[match[1]] = name

    # ---- looking up

    def stack(self, location: bytes) -> Stack:
        """A CodeLocation as it is in the file."""
        found = self._stacks.get(location)
        if found is None:
            found = self._stacks[location] = self._learn(location)
        return found

    def _learn(self, data: bytes) -> Stack:
        try:
            location = parse_location(data)
        except WireError:
            return Stack()
        self.host = self.host or location.host
        number, phase, gradient_of, script = -1, None, "", ""
        for frame_id in location.frames:
            frame = self._frames.get(frame_id)
            if frame is None:
                self.lost_frames += 1
                continue
            number = self._intern(number, frame.number)
            told = phase_of(frame.file, frame.function)
            phase = told if told is not None else phase
            if frame.is_user and not script:
                script = frame.file
            if not gradient_of and _GRADIENT_FILE.search(frame.file):
                gradient_of = _type_of_gradient(frame.function)
        return Stack(number, phase, gradient_of, script)

    def _intern(self, parent: int, frame: int) -> int:
        number = self._stack_numbers.setdefault((parent, frame), len(self._stack_rows))
        if number == len(self._stack_rows):
            self._stack_rows.append((number, parent, frame))
        return number

    def graph_number(self, graph_id: str) -> int:
        """Made up when the graph's own record was lost."""
        found = self.graph_numbers.get(graph_id)
        return found if found is not None else self._add_graph(Graph(graph_id), 0.0)

    def graph_op(self, graph_id: str, name: str) -> Op:
        """The op of a trace; made up, and counted, when its creation was lost."""
        number = self.graph_number(graph_id)
        op = self.by_name.get((number, name))
        if op is None:
            self.unknown_ops += 1
            op = len(self.ops)
            self.ops.append(Op(op, number, name, UNKNOWN_TYPE, "", [], Stack(), Phase.FORWARD))
            self.by_name[number, name] = op
        return self.ops[op]

    def site(self, op_type: str, location: bytes, device: str) -> Op:
        """The op row that all executions of one op type at one place share."""
        stack = self.stack(location)
        number = self._sites.setdefault((op_type, stack.number), len(self.ops))
        if number == len(self.ops):
            self.ops.append(Op(number, -1, op_type, op_type, device, [], stack, _phase(op_type, stack)))
        return self.ops[number]

    @property
    def script(self) -> str:
        """The program's own file, as well as the stacks tell it."""
        counts: dict[str, int] = defaultdict(int)
        for stack in self._stacks.values():
            counts[stack.script] += bool(stack.script)
        return max(counts, key=lambda file: counts[file], default="")

    def outer(self, graph: int) -> int:
        return self.graph_numbers.get(self.graphs[graph].outer, -1)

    def root(self, graph: int) -> int:
        """The function that a graph is part of. TensorFlow gives functions an outer graph without a name."""
        seen = set()
        while graph not in seen:
            seen.add(graph)
            outer = self.outer(graph)
            if outer < 0 or not self.graphs[outer].name:
                break
            graph = outer
        return graph

    # ---- rows

    def rows(self) -> Iterator[tuple[str, dict[str, list]]]:
        """Tables and their columns, without executions and tensors."""
        sources = [(_plain_path(s.path), "\n".join(s.lines), to_ns(t)) for s, t in self._sources if any(s.lines)]
        yield "sources", _columns(("file", "text", "time"), _first_by(sources))
        yield "frames", _columns(("frame", "file", "line", "function", "is_user"), self._frame_rows)
        yield "stacks", _columns(("stack", "parent", "frame"), self._stack_rows)
        first_stack: dict[int, int] = {}
        for op in self.ops:
            first_stack.setdefault(op.graph, op.stack.number)
        graphs = [
            (n, self.outer(n), graph.name, graph.name, first_stack.get(n, -1), to_ns(self.graph_times[n]))
            for n, graph in enumerate(self.graphs)
        ]
        yield "graphs", _columns(("graph", "outer", "name", "function", "stack", "time"), graphs)
        yield "ops", self._op_columns()

    def _op_columns(self) -> dict[str, list]:
        sources = {op.number: self.sources_of(op) for op in self.ops}
        forward = self._forward_ops(sources)
        rows = [
            (
                op.number, op.graph, op.name, op.type, op.device,
                [source for source, _ in sources[op.number]], [slot for _, slot in sources[op.number]],
                [op.dtypes.get(slot, 0) for slot in range(op.outputs)], json.dumps(op.attributes),
                op.stack.number, int(op.phase), forward.get(op.number, -1), op.observed, *in_words(op.type),
            )
            for op in self.ops
        ]  # fmt: skip
        names = (
            "op", "graph", "name", "type", "device", "input_ops", "input_slots", "output_dtypes", "attributes", "stack",
            "phase", "forward", "observed", "kind", "roles", "framework",
        )  # fmt: skip
        return _columns(names, rows)

    def sources_of(self, op: Op) -> list[tuple[int, int]]:
        """Which op and slot each input comes from."""
        found = []
        for name in op.inputs:
            maker, _, slot = name.rpartition(":")
            found.append((self.by_name.get((op.graph, maker), -1), int(slot) if slot.isdigit() else 0))
        return found

    def _forward_ops(self, sources: dict[int, list[tuple[int, int]]]) -> dict[int, int]:
        """Which op a gradient op differentiates: the only one of the type whose gradient function made it that takes
        or makes one of the tensors that it takes."""
        forward = [op for op in self.ops if op.graph >= 0 and op.phase != Phase.BACKWARD]
        touching: dict[tuple[int, int], set[int]] = defaultdict(set)
        for op in forward:
            for source in sources[op.number]:
                touching[source].add(op.number)
        found = {}
        for op in self.ops:
            if op.phase != Phase.BACKWARD or op.graph < 0 or not op.stack.gradient_of:
                continue
            near = {number for source in sources[op.number] if source[0] >= 0 for number in touching[source]}
            near |= {source for source, _ in sources[op.number] if source >= 0}
            matching = [n for n in near if _is_type(self.ops[n], op.stack.gradient_of)]
            if len(matching) == 1:
                found[op.number] = matching[0]
        return found


def _is_type(op: Op, wanted: str) -> bool:
    return op.phase != Phase.BACKWARD and re.sub(r"V\d$", "", op.type).lower() == wanted.lower()


def _type_of_gradient(function: str) -> str:
    match = _GRADIENT_FUNCTION.fullmatch(function.rsplit(".", 1)[-1])
    return match["type"] if match else ""


def _phase(op_type: str, stack: Stack) -> Phase:
    if stack.phase is not None:
        return stack.phase
    return Phase.UPDATE if writes_variable(op_type) else Phase.FORWARD


def _plain_path(path: str) -> str:
    """TensorFlow makes ``<frozen runpy>`` and ``<ipython-input-…>`` absolute, as if they were files."""
    name = os.path.basename(path)
    return name if name.startswith("<") else path


def _messages(file: RecordFile, *kinds: type) -> Iterator[tuple[float, Any]]:
    for record in file.records():
        try:
            time, message = parse(record)
        except WireError:
            message = None
        if isinstance(message, kinds):
            yield time, message
        else:
            file.losses.unreadable += 1


def _columns(names: tuple[str, ...], rows: list[tuple]) -> dict[str, list]:
    return {name: [row[n] for row in rows] for n, name in enumerate(names)}


def _first_by(rows: list[tuple]) -> list[tuple]:
    return list({row[0]: row for row in reversed(rows)}.values())[::-1]
