"""Shows one process of a trace as training, in the words of the rules: steps, the loss, layers, variables."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.model import DType, Frame, Phase
from tdbg.query.flow.graph import moved_input
from tdbg.query.rules.flow import Flow
from tdbg.query.rules.layer_lines import LayerLines
from tdbg.query.rules.losses import find_losses
from tdbg.query.rules.sample import NO_STEPS, choose_windows, read_sample
from tdbg.query.rules.series import Node, Place, Series
from tdbg.query.rules.trained_layers import Layer, find_layers
from tdbg.query.rules.variables import Variables
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.vocabulary import Kind

_SAME_BUT_FOR_ONES = (Kind.IDENTITY, Kind.STOP_GRADIENT, Kind.CAST, Kind.SQUEEZE)


class Training:
    """What the rules look at: one process of a trace."""

    def __init__(self, trace: Trace, rows: Rows, process: int, before: int | None = None) -> None:
        self.trace, self._rows, self.process = trace, rows, process
        self.program = Program(trace, process)
        windows = choose_windows(trace, process, before)
        self.problem = windows if isinstance(windows, str) else ""
        self.sample = NO_STEPS if isinstance(windows, str) else read_sample(rows, self.program, process, windows)
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

    def dialect(self, node: Node) -> Dialect:
        """How the users of the op's framework say things."""
        return dialect_of(self.op(node).framework)

    def name(self, node: Node) -> str:
        """``dense_1/Relu``; of an eager op its type."""
        op = self.op(node)
        return "/".join(op.name.split("/")[-2:]) if op.graph >= 0 else op.type

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

    def outputs(self, *kinds: Kind, phase: Phase = Phase.FORWARD) -> Iterator[Series]:
        """The tensors that ops of these kinds made in the phase (all kinds, when none is named)."""
        for place, series in self.sample.series.items():
            op = self.op(place.node)
            if not place.is_given and op.phase == phase and (not kinds or op.kind in kinds):
                yield series

    def in_training(self, series: Series) -> Series | None:
        """Takes a tensor in the steps that trained; None when it was not in all of the last ones."""
        if len(series) == len(self.steps) and np.array_equal(series.step, self.steps):
            return series
        kept = np.isin(series.step, self.steps)
        if not kept.any() or series.step[kept][-1] < self.steps[-1] - 1:
            return None
        return series.at(kept)

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
    def variables(self) -> Variables:
        return Variables(self, self._rows)

    @cached_property
    def layers(self) -> list[Layer]:
        """In the order of the program."""
        return find_layers(self)

    @cached_property
    def layer_of(self) -> dict[Node, Layer]:
        return {layer.node: layer for layer in self.layers}

    def is_half(self, series: Series) -> bool:
        return series.dtype == DType.FLOAT16

    # ---- shapes

    @cached_property
    def _dims(self) -> dict[int, tuple[int, ...]]:
        found = self._rows.query(f"SELECT shape, dims FROM shapes WHERE process = {self.process}")
        return {shape: tuple(dims) for shape, dims in found}

    def dims(self, series: Series) -> tuple[int, ...]:
        """The shape of the last step."""
        return self._dims.get(series.shape, ())

    def shape_of_input(self, node: Node, at: int) -> tuple[int, ...] | None:
        """Tells the shape as the op saw it, that is behind a squeeze, which has no rows in graphs; None when it is not
        known."""
        raw = self.flow.raw_input(node, at)
        return self._shape(raw) if raw is not None else None

    def _shape(self, place: Place, depth: int = 0) -> tuple[int, ...] | None:
        series = self.at(place)
        if series is not None:
            return self.dims(series)
        op = self.op(place.node)
        if op.graph < 0 or depth > 8:
            return None
        if op.kind in _SAME_BUT_FOR_ONES and op.inputs:
            number, slot = op.inputs[moved_input(op, place.slot) or 0]
            dims = self._shape(Place(Node(number, 0), slot), depth + 1)
            return tuple(size for size in dims if size != 1) if dims and op.kind == Kind.SQUEEZE else dims
        if op.kind == Kind.ARGUMENT:
            found = [self.at(place) for place in self.flow.resolve(place)]
            return self.dims(found[0]) if found and found[0] is not None else None
        return None
