"""Decides which outputs of an op may hold the program, and holds it when one meets its condition."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial, reduce
from typing import Any

import numpy as np

from tdbg import native
from tdbg.capture import faults
from tdbg.capture.breaks import Break
from tdbg.capture.condition import OF_TENSORS, can_be_met, compiled, event_of, fields_in, known_of, left_over
from tdbg.capture.hold import Held
from tdbg.capture.holding import Holding
from tdbg.capture.source import Sources
from tdbg.capture.steps import Steps
from tdbg.expressions import Both
from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.frameworks.tensorflow.capture.held_op import HeldOps, Known, Maker, Output
from tdbg.model import DType
from tdbg.native.arrays import array_of, typed

_EAGER, _EVERY_SLOT, _MET = "eager", 0xFFFF, 2  # as native/stopping/breaks.h and native/eager_ops.c have them
RawTensor = tuple[int, tuple[int, ...], bytes]  # as native/stopping/breaks.c gives them: dtype, dims, elements


class OpInGraphEnded(RuntimeError):
    """What an observer in Python raises when the program is to end."""


class OpBreaks:
    """The breaks of one recording, on the ops of TensorFlow."""

    def __init__(
        self,
        holding: Holding,
        lib: Any,
        sources: Sources,
        steps: Steps,
        as_buffer: Any,
        trace_again: Callable[[], None],
    ) -> None:
        self.holder, self._lib, self._steps = holding.holder, lib, steps
        self._as_buffer, self._trace_again = as_buffer, trace_again
        self.is_on = False
        self._ops: dict[int, Known] = {}
        self._shown = HeldOps(self._ops, sources)
        self._eager: dict[int, Sequence[Break]] = {}
        self._active: Sequence[Break] = ()
        holding.changed.append(self.apply)

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
            if op.graph == _EAGER:
                tests += self._eager_tests(number, op)
            for slot in range(len(op.dtypes)):
                asked = self._tests(op, slot, self._active)
                if asked and slot in op.observed:
                    tests.append((number, slot, asked))
                elif asked and self._is_worth_it(op, slot, self._active):
                    is_unobserved = True
                    self._ops[number] = op._replace(observed=frozenset(range(len(op.dtypes))))  # its successor will be
        with faults.guard("telling ops what holds the program"):
            self._lib.set_breaks(self.met if self._active else None, tests)
        if is_unobserved:
            self._trace_again()

    def stop(self) -> None:
        self._active = ()
        self._lib.set_breaks(None, [])
        self.holder.wait()

    # ---- which outputs

    def learn(self, number: int, op: Known, recorded: Iterable[int]) -> list[int]:
        """A new op, of which these outputs are recorded: those that may hold the program, recorded or not."""
        breaks = self.holder.breaks
        every = {*breaks.all, *self._active}
        slots = [slot for slot in range(len(op.dtypes)) if self._tests(op, slot, every)]
        slots = [slot for slot in slots if slot in recorded or self._is_worth_it(op, slot, every)]
        self._ops[number] = op._replace(observed=frozenset([*recorded, *slots]))
        tests = self._eager_tests(number, op) if op.graph == _EAGER else []
        tests += [(number, slot, self._tests(op, slot, self._active)) for slot in self._ops[number].observed]
        for one in tests:
            if one[2]:
                self._lib.add_break(one)
        return slots

    def takes_inputs(self, number: int) -> bool:
        """Whether it may hold the program: then its inputs are to be shown, which only its observer can keep."""
        op = self._ops.get(number)
        return op is not None and any(
            self._can_meet(one, op, slot) for one in self.holder.breaks.all for slot in range(len(op.dtypes))
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

    def eager(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any], found: int) -> None:
        """An op has run, of which native code ``found`` something; SystemExit when the program is to end."""
        if self.holder.breaks.is_over:
            self.holder.leave()
        if self._lib.IS_NATIVE and not found & _MET:
            return
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
            if array is None:
                continue
            met = Output(number, self._ops[number], slot, array, (), self._steps.current, -1)
            if self._which(met) is not None:
                self._hold(self._with_inputs(met, inputs))
                self.holder.leave()

    def _with_inputs(self, met: Output, inputs: Sequence[Any]) -> Output:
        given = [(index, one) for index, one in enumerate(inputs) if code_of(one.dtype).is_number]
        makers = [(index, Maker(self._lib.maker_of(one._id), 0)) for index, one in given]
        arrays = [array_of(one, int(code_of(one.dtype)), self._as_buffer) for _, one in given]
        return met._replace(op=met.op._replace(inputs=makers), inputs=arrays)

    def _possible(self, number: int) -> Sequence[Break]:
        op = self._ops.get(number)
        return [one for one, left in self._eager_left(op) if can_be_met(left)] if op is not None else ()

    def _eager_left(self, op: Known) -> list[tuple[Break, Any]]:
        """What is left of each break, where the types and the number of outputs may be others each time."""
        known = known_of(op.type, op.name, op.phase, op.device) | {"iteration": -1}
        asked = [one for one in self._active if _is_asked(one, op, DType.FLOAT32)]
        return [(one, left_over(one.expression, known)) for one in asked]

    def _eager_tests(self, number: int, op: Known) -> list[tuple[int, int, bytes]]:
        """What native code asks of every output; what it cannot know is asked here."""
        left = [one for _, one in self._eager_left(op) if can_be_met(one)]
        if not left:
            return []
        is_numeric = all(fields_in(one) <= {*OF_TENSORS} for one in left)
        return [(number, _EVERY_SLOT, compiled(reduce(partial(Both, "or"), left) if is_numeric else True))]

    # ---- graphs

    def met(
        self, number: int, slot: int, iteration: int, execution: int, output: RawTensor, inputs: Sequence[RawTensor]
    ) -> str | None:
        """From native/stopping/breaks.c, on whatever thread computed the tensor: holds it there."""
        try:
            op = self._ops.get(number)
            array = _from_raw(output)
            if op is None or array is None:
                return None
            given = [_from_raw(one) for one in inputs]
            return self._hold(Output(number, op, slot, array, given, self._steps.current, iteration))
        except Exception as error:
            faults.report("holding a graph", error)
            return None

    def python_observer(self, number: int, slot: int, array: Any, inputs: Sequence[Any], iteration: int) -> None:
        """From an observer in Python; raises when the program is to end."""
        if not self._active or number not in self._ops:
            return
        why = None
        with faults.guard("holding a graph"):
            given = [np.asarray(one) for one in inputs]
            met = Output(number, self._ops[number], slot, np.asarray(array), given, self._steps.current, iteration)
            if met.dtype.is_number and self._which(met) is not None:
                why = self._hold(met)
        if why:
            raise OpInGraphEnded(why)

    # ---- one that is met

    def _which(self, met: Output) -> Break | None:
        """The break that this tensor meets."""
        op, dtype = met.op, met.dtype
        known = known_of(op.type, op.name, op.phase, op.device) | {"slot": met.slot, "dtype": dtype.label}
        event = known | event_of(native.summarize(met.array), met.array.size, met.step, met.iteration)
        for one in self._active:
            is_met = _is_asked(one, op, dtype) and one.expression.matches(event)
            if is_met and (one.filter is None or one.filter(met.seen(), met.array)):
                return one
        return None

    def _hold(self, met: Output) -> str | None:
        def make() -> Held | None:
            one = self._which(met)  # another thread's turn may have changed it
            if one is None:
                return None
            one.hits += 1
            return self._shown.held(one, met)

        return self.holder.hold(met.step, make)


def _is_asked(one: Break, op: Known, dtype: DType) -> bool:
    """A condition that names no ops is about what computes, and about floats."""
    return (one.selects or (dtype.is_floating and not op.hands_on)) and not one.leaves_out(op.name)


def _from_raw(raw: RawTensor) -> np.ndarray | None:
    dtype, dims, elements = raw
    array = typed(np.frombuffer(elements, np.uint8), dtype)
    return array.reshape(dims) if array is not None else None
