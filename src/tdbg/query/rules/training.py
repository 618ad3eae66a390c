"""The sampled steps and the flow of one process in; training in the words of the rules out: layers, gradients, loss."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tdbg.model import DType, Frame, Phase
from tdbg.query.rules.flow import Flow
from tdbg.query.rules.layer_lines import LayerLines
from tdbg.query.rules.losses import find_losses
from tdbg.query.rules.series import Node, Place, Sample, Series, choose_windows, read_sample
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Rows
from tdbg.store.reader import Trace
from tdbg.vocabulary import Kind

LAYER_OPS = frozenset(
    """MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Conv2D Conv3D DepthwiseConv2dNative Einsum
    Conv2DBackpropInput""".split()
)
SOFTMAX_LOSSES = (Kind.SOFTMAX_CROSS_ENTROPY, Kind.SPARSE_SOFTMAX_CROSS_ENTROPY)
_WRITES = (Kind.ASSIGN, "ResourceApply", "ResourceSparseApply", "ResourceScatter")


@dataclass(frozen=True, slots=True)
class Layer:
    """One product with a weight, and what became of the weight."""

    node: Node
    variable: tuple[str, int]
    name: str
    given: tuple[Place, ...]  # what the weight is multiplied with
    weight: Series
    gradient: Series | None
    update: Series | None  # what is added or taken away in each step


class Created(NamedTuple):
    """The user's line that made a variable, and whether a Keras layer did that for it."""

    frame: Frame
    is_of_layer: bool


class Training:
    """What the rules look at: one process of a trace."""

    def __init__(self, trace: Trace, rows: Rows, process: int, before: int | None = None) -> None:
        self.trace, self._rows, self.process = trace, rows, process
        self.program = Program(trace, process)
        windows = choose_windows(trace, process, before)
        self.problem = windows if isinstance(windows, str) else ""
        if isinstance(windows, str):
            self.sample = Sample({}, [], {}, {})
        else:
            self.sample = read_sample(rows, self.program, process, windows)
        self.flow = Flow(rows, self.program, process, self.sample)

    # ---- words

    def frame(self, node: Node) -> Frame | None:
        return self.program.user_frame(self.program.ops[node.op])

    @cached_property
    def lines(self) -> LayerLines:
        return LayerLines(self.program)

    def made_at(self, node: Node) -> Frame | None:
        """The line that makes the layer of a node; the node's own, when the user wrote it."""
        return self.lines.of(self.op(node))

    def op(self, node: Node) -> Op:
        return self.program.ops[node.op]

    def name(self, node: Node) -> str:
        """``dense_1/Relu``; of an eager op its type."""
        op = self.op(node)
        return "/".join(op.name.split("/")[-2:]) if op.graph >= 0 else op.type

    @cached_property
    def _dims(self) -> dict[int, tuple[int, ...]]:
        found = self._rows.query(f"SELECT shape, dims FROM shapes WHERE process = {self.process}")
        return {shape: tuple(dims) for shape, dims in found}

    def dims(self, series: Series) -> tuple[int, ...]:
        return self._dims.get(series.shape, ())

    # ---- steps

    @cached_property
    def steps(self) -> np.ndarray:
        """The sampled steps in which gradients were computed."""
        found: set[int] = set()
        for place, series in self.sample.series.items():
            if self.op(place.node).phase == Phase.BACKWARD and not place.is_given:
                found.update(series.step.tolist())
        return np.array(sorted(found), np.int64)

    def series(self, node: Node, slot: int = 0) -> Series | None:
        return self.sample.series.get(Place(node, slot))

    def at(self, place: Place) -> Series | None:
        """The numbers of a tensor; those of an argument of the program may stand at the op that first reads it."""
        found = self.sample.series.get(place)
        if found is None and self.op(place.node).graph >= 0:  # of an eager op, what is given and what comes out differ
            found = self.sample.series.get(Place(place.node, place.slot, not place.is_given))
        return found

    def outputs(self, *types: str, phase: Phase = Phase.FORWARD) -> Iterator[Series]:
        """The tensors that ops of these types made in the phase (all types, when none is named)."""
        for place, series in self.sample.series.items():
            op = self.op(place.node)
            if not place.is_given and op.phase == phase and (not types or op.type in types):
                yield series

    def in_training(self, series: Series) -> Series | None:
        """A tensor in the steps that trained, None when it was not in all of the last ones."""
        if len(series) == len(self.steps) and np.array_equal(series.step, self.steps):
            return series
        kept = np.isin(series.step, self.steps)
        if not kept.any() or series.step[kept][-1] < self.steps[-1] - 1:
            return None
        arrays = (getattr(series, name)[kept] for name in Series.__slots__[3:])
        return Series(series.place, series.dtype, series.shape, *arrays)

    # ---- the parts of a model

    @cached_property
    def differentiated(self) -> set[int]:
        """The forward ops whose gradient was computed."""
        return {op.forward for op in self.program.ops.values() if op.phase == Phase.BACKWARD and op.forward >= 0}

    @cached_property
    def loss(self) -> Series | None:
        """What was differentiated; None when that is several tensors, or not in all of the last steps."""
        found = find_losses(self._rows, self.program, self.process)
        if len(found) != 1:
            return None
        series = [
            series
            for series in self.outputs()
            if series.place.node.op in found[0].ops and series.place.slot == found[0].slot
        ]
        return max(series, key=lambda one: (len(one), one.place.node)) if series else None

    @cached_property
    def reads(self) -> dict[tuple[str, int], Series]:
        """The values of each variable, as the forward pass read them."""
        found: dict[tuple[str, int], Series] = {}
        for series in self.outputs(
            Kind.READ,
        ):
            variable = self.flow.variable(series.place.node)
            if variable is not None and (variable not in found or len(series) > len(found[variable])):
                found[variable] = series
        return found

    @cached_property
    def writes(self) -> dict[tuple[str, int], list[Node]]:
        found: dict[tuple[str, int], list[Node]] = defaultdict(list)
        for node in self.flow.nodes():
            op = self.op(node)
            if op.type.startswith(_WRITES) and op.phase != Phase.OTHER:
                variable = self.flow.variable(node)
                if variable is not None:
                    found[variable].append(node)
        return found

    @cached_property
    def layers(self) -> list[Layer]:
        """In the order of the program."""
        found = []
        nodes = {series.place.node for series in self.outputs(*LAYER_OPS)} | self._inner_layers
        for node in sorted(nodes):
            inputs = self.flow.inputs(node)
            for at, places in enumerate(inputs):
                weight = self._weight(places)
                if weight is not None:
                    variable, series = weight
                    others = tuple(place for n, more in enumerate(inputs) if n != at for place in more)
                    update = self._update(variable)
                    gradient = self._gradient(node, series, others)
                    found.append(Layer(node, variable, self._layer_name(node), others, series, gradient, update))
        return found

    @property
    def _inner_layers(self) -> set[Node]:
        """Products that the runtime fused with what follows them: their own values cannot be seen."""
        ran = {self.op(place.node).graph for place in self.sample.series} - {-1}
        ops = self.program.ops.values()
        return {
            Node(op.number, 0)
            for op in ops
            if op.graph in ran and op.type in LAYER_OPS and op.phase == Phase.FORWARD and not op.observed
        }

    @cached_property
    def layer_of(self) -> dict[Node, Layer]:
        return {layer.node: layer for layer in self.layers}

    def _weight(self, places: tuple[Place, ...]) -> tuple[tuple[str, int], Series] | None:
        for place in places:
            if not place.is_given and self.op(place.node).kind == Kind.READ:
                variable = self.flow.variable(place.node)
                if variable is not None and variable in self.reads:
                    return variable, self.reads[variable]
        return None

    @cached_property
    def _backward_of(self) -> dict[int, list[Series]]:
        found: dict[int, list[Series]] = defaultdict(list)
        for series in self.outputs(phase=Phase.BACKWARD):
            found[self.op(series.place.node).forward].append(series)
        return found

    def _gradient(self, node: Node, weight: Series, others: tuple[Place, ...]) -> Series | None:
        """Of a weight: has its size, and is made of what the weight was multiplied with."""
        wanted = {(place.node, place.slot) for place in others}
        for series in self._backward_of.get(node.op, ()):
            if series.elements[-1] == weight.elements[-1] and wanted & self._read_by(series.place.node, node.op):
                return series
        return None

    def _read_by(self, node: Node, forward: int, depth: int = 3) -> set[tuple[Node, int]]:
        """What the ops of one op's gradient read, up to a node of it: a product and, with batches, its sum."""
        places = [place for places in self.flow.inputs(node) for place in places]
        found = {(place.node, place.slot) for place in places}
        for place in places:
            if depth and not place.is_given and self.op(place.node).forward == forward:
                found |= self._read_by(place.node, forward, depth - 1)
        return found

    def _update(self, variable: tuple[str, int]) -> Series | None:
        for node in self.writes.get(variable, ()):
            if self.op(node).kind in (Kind.ASSIGN_SUBTRACT, Kind.ASSIGN_ADD):
                inputs = self.flow.inputs(node)
                found = [self.at(place) for place in (inputs[1] if len(inputs) > 1 else ())]
                if found and found[0] is not None:
                    return found[0]
        return None

    def _layer_name(self, node: Node) -> str:
        op = self.op(node)
        if op.graph < 0:
            return f"{op.type} {node.turn + 1}" if node.turn else op.type
        return self.name(node)

    def is_half(self, series: Series) -> bool:
        return series.dtype == DType.FLOAT16

    @cached_property
    def created_variables(self) -> dict[tuple[str, int], Created]:
        """Where each variable was made, by eager code or for a Session; without those that were given another value
        later, by loading for one."""
        made = self._made_for_sessions()
        for handle, (number, phase, count) in self._assigned.items():
            if count > 1 or phase != Phase.OTHER:
                continue
            op = self.program.ops[number]
            frame = self.program.user_frame(op)
            is_of_layer = any(call.function.endswith("add_weight") for call in self.program.stack(op.stack))
            if frame is not None:
                made["handle", handle] = Created(frame, is_of_layer)
        return made

    @cached_property
    def loaded_variables(self) -> frozenset[tuple[str, int]]:
        """Those that eager code gave a value more than once: the first was not meant to stay."""
        return frozenset(("handle", handle) for handle, (_, _, count) in self._assigned.items() if count > 1)

    @cached_property
    def _assigned(self) -> dict[int, tuple[int, int, int]]:
        """By a variable's handle: the first op that assigns to it in eager code, its phase, and how many assign."""
        found = self._rows.query(
            "SELECT e.inputs[1], min(e.op), min(o.phase), count(*) FROM executions e JOIN ops o USING (process, op) "
            f"WHERE o.graph < 0 AND o.type = 'AssignVariableOp' AND process = {self.process} GROUP BY 1"
        )
        return {handle: (op, phase, count) for handle, op, phase, count in found}

    def _made_for_sessions(self) -> dict[tuple[str, int], Created]:
        ops = self.program.ops.values()
        if any(
            op.type.startswith(
                Kind.RESTORE,
            )
            for op in ops
        ):  # which of them were loaded is not told
            return {}
        made = {}
        for op in ops:
            variable = self.flow.variable(Node(op.number, 0)) if op.kind == Kind.READ and op.graph >= 0 else None
            holder = self.program.ops.get(op.inputs[0][0]) if op.inputs else None
            if variable is not None and holder is not None and holder.kind in (Kind.VARIABLE, Kind.READ):
                frame = self.program.user_frame(holder)
                is_of_layer = any(call.function.endswith("add_weight") for call in self.program.stack(holder.stack))
                if frame is not None:
                    made[variable] = Created(frame, is_of_layer)
        return made

    def shape_of_input(self, node: Node, at: int) -> tuple[int, ...] | None:
        """As the op saw it, that is behind a Squeeze, which has no rows in graphs; None when it is not known."""
        raw = self.flow.raw_input(node, at)
        return self._shape(raw) if raw is not None else None

    def _shape(self, place: Place, depth: int = 0) -> tuple[int, ...] | None:
        series = self.at(place)
        if series is not None:
            return self.dims(series)
        op = self.op(place.node)
        if op.graph < 0 or depth > 8:
            return None
        if op.kind in (Kind.IDENTITY, Kind.STOP_GRADIENT, Kind.CAST, Kind.SQUEEZE) and op.inputs:
            number, slot = op.inputs[0]
            dims = self._shape(Place(Node(number, 0), slot), depth + 1)
            return tuple(size for size in dims if size != 1) if dims and op.kind == Kind.SQUEEZE else dims
        if op.type.startswith(
            Kind.ARGUMENT,
        ):
            found = [self.at(place) for place in self.flow.resolve(place)]
            return self.dims(found[0]) if found and found[0] is not None else None
        return None
