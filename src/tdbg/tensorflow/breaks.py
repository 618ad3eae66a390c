"""Ops as they are made or run in; which of their outputs may hold the program, and the hold when one does, out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from tdbg import native
from tdbg.capture import faults
from tdbg.capture.bad_value import BadValue, Fact, Input, Limits, details, stack_lines
from tdbg.capture.breaks import Break
from tdbg.capture.condition import can_be_met, compiled, event_of, known_of, left_over
from tdbg.capture.held_scene import HeldTensor
from tdbg.capture.hold import Held, Holder
from tdbg.capture.source import Sources
from tdbg.capture.steps import Steps
from tdbg.expressions import Both
from tdbg.model import DType, Phase
from tdbg.native.python_arrays import array_of, typed
from tdbg.scene import Seen
from tdbg.tensorflow.dtypes import code_of

_EAGER = "eager"
RawTensor = tuple[int, tuple[int, ...], bytes]  # as native/breaks.c gives them: dtype, dims, elements


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


class OpInGraphEnded(RuntimeError):
    """What an observer in Python raises when the program is to end."""


class OpBreaks:
    """The breaks of one recording, on the ops of TensorFlow."""

    def __init__(
        self, holder: Holder, lib: Any, sources: Sources, steps: Steps, as_buffer: Any, trace_again: Callable[[], None]
    ) -> None:
        self.holder, self._lib, self._sources, self._steps = holder, lib, sources, steps
        self._as_buffer, self._trace_again = as_buffer, trace_again
        self.is_on = False
        self._ops: dict[int, Known] = {}
        self._eager: dict[int, Sequence[Break]] = {}
        self._active: Sequence[Break] = ()
        holder.breaks.changed = self.apply

    # ---- on and off

    def apply(self) -> None:
        """Other conditions count: from here on ops are asked those. What is not observed yet is traced again."""
        breaks = self.holder.breaks
        self._active = breaks.active(self._steps.current)
        self._eager = {}
        was_on, self.is_on = self.is_on, bool(breaks.all or self._active or breaks.is_over)
        is_unobserved = self.is_on and not was_on  # what ran before is not known
        tests = []
        for number, op in list(self._ops.items()):
            for slot in range(len(op.dtypes)) if op.graph != _EAGER else ():
                asked = self._tests(op, slot, self._active)
                if asked and slot in op.observed:
                    tests.append((number, slot, asked))
                is_unobserved |= bool(asked) and slot not in op.observed
        with faults.guard("telling ops what holds the program"):
            self._lib.set_breaks(self.met if self._active else None, tests)
        if is_unobserved:
            self._trace_again()

    def stop(self) -> None:
        self.holder.breaks.changed = lambda: None
        self._active = ()
        self._lib.set_breaks(None, [])
        self.holder.wait()

    def step_begins(self, step: int) -> None:
        """May hold the program, or end it."""
        if self.holder.breaks.begins(step):
            self.holder.hold(step, lambda: Held("step", f"step {step} begins", self._here(), first="run_info"))
        self.holder.leave()

    def _here(self) -> list[str]:
        return stack_lines(self.user_stack(self._lib.stack_here(0)), Limits())

    def user_stack(self, stack: int) -> list[Any]:
        """The user's own frames of it, the outermost first; node_info has all."""
        return [frame for frame in self._sources.frames(stack) if frame.is_user]

    # ---- which outputs

    def learn(self, number: int, op: Known, recorded: Iterable[int]) -> list[int]:
        """A new op, of which these outputs are recorded: those that may hold the program, recorded or not."""
        breaks = self.holder.breaks
        every = {*breaks.all, *self._active}
        slots = [slot for slot in range(len(op.dtypes)) if self._tests(op, slot, every)]
        slots = [slot for slot in slots if slot in recorded or self._is_worth_it(op, slot, every)]
        self._ops[number] = op._replace(observed=frozenset([*recorded, *slots]))
        for slot in self._ops[number].observed if op.graph != _EAGER and self._active else ():
            tests = self._tests(op, slot, self._active)
            if tests:
                self._lib.add_break((number, slot, tests))
        return slots

    def takes_inputs(self, number: int) -> bool:
        """Whether the op is one that a condition speaks of: then its inputs are worth being shown."""
        op = self._ops.get(number)
        return op is not None and any(
            one.selects and self._can_meet(one, op, slot)
            for one in self.holder.breaks.all
            for slot in range(len(op.dtypes))
        )

    def _is_worth_it(self, op: Known, slot: int, breaks: Iterable[Break]) -> bool:
        """An observer more. A condition that names no ops is asked of what a recording without filters has rows of."""
        if any(one.selects and self._can_meet(one, op, slot) for one in breaks):
            return True
        return op.type not in ("Const", "ReadVariableOp")

    def _can_meet(self, one: Break, op: Known, slot: int) -> bool:
        return can_be_met(self._left(one, op, slot))

    def _left(self, one: Break, op: Known, slot: int) -> Any:
        if not _is_asked(one, op, op.dtypes[slot]):
            return False
        known = known_of(op.type, op.name, op.phase, op.device) | {"slot": slot, "dtype": op.dtypes[slot].label}
        return left_over(one.expression, known)

    def _tests(self, op: Known, slot: int, breaks: Iterable[Break]) -> bytes:
        """What native code asks of an output; b"" when it cannot hold the program."""
        if not op.dtypes[slot].is_number:
            return b""
        left: Any = False
        for one in breaks:
            asked = self._left(one, op, slot)
            if can_be_met(asked):
                left = asked if left is False else Both("or", left, asked)
        return compiled(left) if can_be_met(left) else b""

    # ---- eager ops

    def eager(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """An op has run; SystemExit when the program is to end."""
        self.holder.leave()
        possible = self._eager.get(number)
        if possible is None:
            possible = self._eager[number] = self._possible(number)
        if not possible:
            return
        for slot, tensor in enumerate(outputs):
            dtype = code_of(tensor.dtype)
            if not dtype.is_number:
                continue
            array = array_of(tensor, int(dtype), self._as_buffer)
            if array is None or self._which(number, slot, dtype, array, -1) is None:
                continue
            op = self._ops[number]
            given = [(index, one) for index, one in enumerate(inputs) if code_of(one.dtype).is_number]
            arrays = [array_of(one, int(code_of(one.dtype)), self._as_buffer) for _, one in given]
            makers = [(index, Maker(self._lib.maker_of(one._id), 0)) for index, one in given]
            self._hold(number, op._replace(inputs=makers), slot, dtype, array, arrays, -1)
            self.holder.leave()

    def _possible(self, number: int) -> Sequence[Break]:
        op = self._ops.get(number)
        if op is None:
            return ()
        known = known_of(op.type, op.name, op.phase, op.device)
        return [
            one
            for one in self._active
            if _is_asked(one, op, DType.FLOAT32) and can_be_met(left_over(one.expression, known))
        ]

    # ---- graphs

    def met(
        self, number: int, slot: int, iteration: int, execution: int, output: RawTensor, inputs: Sequence[RawTensor]
    ) -> str | None:
        """From native/breaks.c, on whatever thread computed the tensor: holds it there."""
        try:
            op = self._ops.get(number)
            array = _from_raw(output)
            if op is None or array is None:
                return None
            return self._hold(number, op, slot, DType(output[0]), array, [_from_raw(one) for one in inputs], iteration)
        except Exception as error:
            faults.report("holding a graph", error)
            return None

    def python_observer(self, number: int, slot: int, array: Any, inputs: Sequence[Any], iteration: int) -> None:
        """From an observer in Python; raises when the program is to end."""
        if not self._active or number not in self._ops:
            return
        why = None
        with faults.guard("holding a graph"):
            array = np.asarray(array)
            dtype = native.reference.DTYPES.get(array.dtype.name)
            if dtype is not None and self._which(number, slot, dtype, array, iteration) is not None:
                given = [np.asarray(one) for one in inputs]
                why = self._hold(number, self._ops[number], slot, dtype, array, given, iteration)
        if why:
            raise OpInGraphEnded(why)

    # ---- one that is met

    def _which(self, number: int, slot: int, dtype: DType, array: np.ndarray, iteration: int) -> Break | None:
        """The break that this tensor meets."""
        op = self._ops[number]
        known = known_of(op.type, op.name, op.phase, op.device) | {"slot": slot, "dtype": dtype.label}
        event = known | event_of(native.summarize(array), array.size, self._steps.current, iteration)
        for one in self._active:
            if not _is_asked(one, op, dtype) or not one.expression.matches(event):
                continue
            if one.filter is None or one.filter(_seen(op, slot, array, dtype, self._steps.current, iteration), array):
                return one
        return None

    def _hold(
        self, number: int, op: Known, slot: int, dtype: DType, array: Any, inputs: Sequence[Any], iteration: int
    ) -> str | None:
        def make() -> Held | None:
            one = self._which(number, slot, dtype, array, iteration)  # another thread's turn may have changed it
            if one is None:
                return None
            one.hits += 1
            return self._held(one, number, op, slot, dtype, array, inputs, iteration)

        return self.holder.hold(self._steps.current, make)

    def _held(
        self,
        one: Break,
        number: int,
        op: Known,
        slot: int,
        dtype: DType,
        array: Any,
        inputs: Sequence[Any],
        iteration: int,
    ) -> Held:
        step = self._steps.current
        output = HeldTensor(_seen(op, slot, array, dtype, step, iteration), array, number)
        given: list[Input] = []
        tensors = [output]
        for (index, maker), value in zip(op.inputs, inputs, strict=False):
            if value is not None:
                tensors.append(self._input(op, index, maker, value))
                given.append(self._told(index, maker, tensors[-1]))
        forward = self._ops.get(op.forward)
        fact = fact_of(array)
        shown = BadValue(
            kind=op.type,
            name=op.name,
            slot=slot,
            output=fact,
            inputs=given,
            stack=self.user_stack(op.stack),
            phase=op.phase,
            forward=self._sources.info(forward.stack).user if forward is not None else None,
            forward_kind=forward.type if forward is not None else "",
            iteration=iteration,
            where=op.graph,
        )
        name = output.seen.tensor
        loop = f", iteration {iteration}" if iteration >= 0 else ""
        lines = [f"    {name}: {fact.numbers_text()}", *details(shown, Limits(stack_height=12))]
        headline = f"condition: {one.text} is met by {name}, step {step}{loop}"
        return Held("condition", headline, lines, tensors, f"print_tensor {output.exact_name}")

    def _input(self, op: Known, index: int, maker: Maker, array: np.ndarray) -> HeldTensor:
        made = self._ops.get(maker.op)
        dtype = native.reference.DTYPES.get(array.dtype.name, DType.UNKNOWN)
        if made is None:
            made, maker = op._replace(name=f"{op.name}/input_{index}", type="input"), Maker(-1, 0)
        return HeldTensor(_seen(made, maker.slot, array, dtype, self._steps.current, -1), array, maker.op)

    def _told(self, index: int, maker: Maker, held: HeldTensor) -> Input:
        made = self._ops.get(maker.op)
        if made is None:
            return Input(index, fact_of(held.array), f"given ({held.seen.tensor})")
        line = self._sources.info(made.stack).user
        return Input(index, fact_of(held.array), f"{held.seen.tensor}, from {made.type}", line)


def _is_asked(one: Break, op: Known, dtype: DType) -> bool:
    """A condition that names no ops is about what computes, and about floats."""
    return (one.selects or (dtype.is_floating and not op.hands_on)) and not one.leaves_out(op.name)


def _seen(op: Known, slot: int, array: np.ndarray, dtype: DType, step: int, iteration: int) -> Seen:
    numbers = native.summarize(array)
    return Seen(
        node=op.name,
        slot=slot,
        op_type=op.type,
        time=0.0,
        size=array.nbytes,
        dtype=dtype.label,
        shape=array.shape,
        key=None,
        device=op.device,
        step=step,
        iteration=iteration,
        numbers=numbers,
        is_bad=numbers.is_bad,
    )


def fact_of(array: np.ndarray) -> Fact:
    dtype = native.reference.DTYPES.get(array.dtype.name, DType.UNKNOWN)
    return Fact(dtype, tuple(array.shape), native.summarize(array))


def _from_raw(raw: RawTensor) -> np.ndarray | None:
    dtype, dims, elements = raw
    array = typed(np.frombuffer(elements, np.uint8), dtype)
    return array.reshape(dims) if array is not None else None
