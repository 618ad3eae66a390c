"""Gathers what the prompt shows of an op whose output met a condition, and the tensors that are in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tdbg import native
from tdbg.capture.bad_value import BadValue, Fact, Input, Limits, details
from tdbg.capture.breaks import Break
from tdbg.capture.held_scene import HeldTensor
from tdbg.capture.hold import Held
from tdbg.capture.source import Sources
from tdbg.model import DType, Phase
from tdbg.scene import Seen


class Maker(NamedTuple):
    """Where an input comes from; op -1: from no op that is known."""

    op: int
    slot: int


class Known(NamedTuple):
    """An op that may hold the program. ``inputs`` are those of numbers."""

    type: str
    name: str
    phase: Phase
    device: str
    stack: int
    forward: int
    graph: str  # "eager" for those that run at once
    dtypes: Sequence[DType] = ()
    inputs: Sequence[tuple[int, Maker]] = ()  # which input it is, and what made it
    observed: frozenset[int] = frozenset()  # outputs that are looked at when they are computed
    hands_on: bool = False  # what it gives was an output of another op: only a condition that names it is asked


class Output(NamedTuple):
    """An output of an op as it is in memory, with the op's inputs as far as they are there."""

    number: int  # of the op
    op: Known
    slot: int
    array: np.ndarray
    inputs: Sequence[np.ndarray | None]  # those of ``op.inputs``
    step: int
    iteration: int

    @property
    def dtype(self) -> DType:
        return _dtype_of(self.array)

    def seen(self) -> Seen:
        return seen_of(self.op, self.slot, self.array, self.step, self.iteration)


class HeldOps:
    """Over the ops that are known so far."""

    def __init__(self, ops: Mapping[int, Known], sources: Sources) -> None:
        self._ops, self._sources = ops, sources

    def held(self, one: Break, met: Output) -> Held:
        op = met.op
        output = HeldTensor(met.seen(), met.array, met.number)
        given: list[Input] = []
        tensors = [output]
        for (index, maker), value in zip(op.inputs, met.inputs, strict=False):
            if value is not None:
                tensors.append(self._input(op, index, maker, value, met.step))
                given.append(self._told(index, maker, tensors[-1]))
        forward = self._ops.get(op.forward)
        fact = fact_of(met.array)
        shown = BadValue(
            kind=op.type,
            name=op.name,
            slot=met.slot,
            output=fact,
            inputs=given,
            stack=self._sources.user_frames(op.stack),
            phase=op.phase,
            forward=self._sources.info(forward.stack).user if forward is not None else None,
            forward_kind=forward.type if forward is not None else "",
            iteration=met.iteration,
            where=op.graph,
        )
        name = output.seen.tensor
        loop = f", iteration {met.iteration}" if met.iteration >= 0 else ""
        lines = [f"    {name}: {fact.numbers_text()}", *details(shown, Limits(stack_height=12))]
        headline = f"condition: {one.text} is met by {name}, step {met.step}{loop}"
        return Held("condition", headline, lines, tensors, f"print_tensor {output.exact_name}")

    def _input(self, op: Known, index: int, maker: Maker, array: np.ndarray, step: int) -> HeldTensor:
        made = self._ops.get(maker.op)
        if made is None:
            made, maker = op._replace(name=f"{op.name}/input_{index}", type="input"), Maker(-1, 0)
        return HeldTensor(seen_of(made, maker.slot, array, step), array, maker.op)

    def _told(self, index: int, maker: Maker, held: HeldTensor) -> Input:
        made = self._ops.get(maker.op)
        if made is None:
            return Input(index, fact_of(held.array), f"given ({held.seen.tensor})")
        line = self._sources.info(made.stack).user
        return Input(index, fact_of(held.array), f"{held.seen.tensor}, from {made.type}", line)


def seen_of(op: Known, slot: int, array: np.ndarray, step: int, iteration: int = -1) -> Seen:
    """What a scene says of a tensor that is in memory."""
    numbers = native.summarize(array)
    return Seen(
        node=op.name,
        slot=slot,
        op_type=op.type,
        time=0.0,
        size=array.nbytes,
        dtype=_dtype_of(array).label,
        shape=array.shape,
        key=None,
        device=op.device,
        step=step,
        iteration=iteration,
        numbers=numbers,
        is_bad=numbers.is_bad,
    )


def fact_of(array: np.ndarray) -> Fact:
    return Fact(_dtype_of(array), tuple(array.shape), native.summarize(array))


def _dtype_of(array: np.ndarray) -> DType:
    return native.reference.DTYPES.get(array.dtype.name, DType.UNKNOWN)
