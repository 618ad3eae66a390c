"""Stops the program at the first op that makes a bad value, with an error that says which op and why."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from tdbg import native
from tdbg.capture import faults
from tdbg.capture.bad_value import BadValue, Fact, Input, Limits, is_made, message
from tdbg.capture.source import Sources
from tdbg.frames import is_own_file
from tdbg.frameworks.tensorflow.capture.dtypes import code_of
from tdbg.frameworks.tensorflow.capture.op_kinds import PASSES_ON, UNCHECKED_OUTPUTS
from tdbg.model import DType, Frame, Phase, Summary

_MOST_INPUTS = 16  # as many as native/stopping/check.h tells of
_ENTERS = {"Placeholder": "an argument", "Const": "a constant", "ReadVariableOp": "a variable's value"}
_UNEXPLAINED = "tdbg: an op made NaN or infinity from good values (and tdbg failed to find out more)"

RawFact = tuple[int, tuple[int, ...], tuple, float]  # of native/stopping/check.c, with the fields of a Summary


class BadValueError(tf.errors.InvalidArgumentError):
    """An eager op made NaN or infinity from good values. In graphs it is TensorFlow that raises, with the same text.

    The arguments are those of every error of TensorFlow, which pickles its errors by them.
    """


class BadValueInGraph(ValueError):
    """What a Python observer raises; TensorFlow makes an InvalidArgumentError of it."""


class KnownOp(NamedTuple):
    """What a message says of an op."""

    type: str
    name: str
    stack: int
    phase: Phase
    forward: int  # the op that it differentiates
    graph: str
    inputs: Sequence[tuple[int, int]]  # of numbers: which input it is, and which op made it
    constants: Sequence[tuple[int, int, Fact]] = ()  # of which the numbers are known beforehand


class Checks:
    """One check of this process, on or off; functions that were traced under it go on naming it."""

    def __init__(self, limits: Limits, sources: Sources, maker_of: Any) -> None:
        self.limits, self._sources, self._maker_of = limits, sources, maker_of
        self._ops: dict[int, KnownOp] = {}
        self.number = next(_numbers)
        _all[self.number] = self

    def learn(self, number: int, op: KnownOp) -> None:
        self._ops[number] = op

    # ---- eager ops

    def eager(self, number: int, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """An output is bad: raises when this op made it."""
        op = self._ops.get(number)
        if op is None or not can_make(op.type, inputs):
            return
        given = [(index, tensor) for index, tensor in enumerate(inputs) if code_of(tensor.dtype).is_number]
        facts = [_fact_of(tensor) for _, tensor in given]
        makers = [(index, self._maker_of(tensor._id)) for index, tensor in given]
        for slot, tensor in enumerate(outputs):
            if not is_checked(op.type, slot) or not code_of(tensor.dtype).is_floating:
                continue
            output = _fact_of(tensor)
            if is_made(output.numbers, [fact.numbers for fact in facts]):
                text = self._text(op._replace(inputs=makers), slot, -1, output, facts)
                raise BadValueError(None, None, text)

    def call(self, number: int, name: str, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """A compiled function came back: raises when it made a bad value."""
        facts = [_fact_of(tensor) for tensor in inputs if code_of(tensor.dtype).is_number]
        for slot, tensor in enumerate(outputs):
            if not code_of(tensor.dtype).is_floating:
                continue
            output = _fact_of(tensor)
            if is_made(output.numbers, [fact.numbers for fact in facts]):
                site = self._ops[number]
                makers = [(at, self._maker_of(t._id)) for at, t in enumerate(inputs) if code_of(t.dtype).is_number]
                op = site._replace(type=f"compiled function {name}", name=site.type, inputs=makers)
                raise BadValueError(None, None, self._text(op, slot, -1, output, facts))

    # ---- graphs

    def graph_tensor(self, number: int, slot: int, array: Any, evidence: Sequence[Any], loop: int) -> None:
        """From an observer in Python, of a bad value: raises when the op made it."""
        output = fact_of_array(array)
        facts = [fact_of_array(one) for one in evidence]
        if is_made(output.numbers, [fact.numbers for fact in facts]):
            raise BadValueInGraph(self._text(self._ops[number], slot, loop, output, facts))

    def explain(self, number: int, slot: int, iteration: int, output: RawFact, inputs: Sequence[RawFact]) -> str:
        return self._text(self._ops[number], slot, iteration, _from_raw(output), [_from_raw(one) for one in inputs])

    # ---- the message

    def _text(self, op: KnownOp, slot: int, iteration: int, output: Fact, facts: Sequence[Fact]) -> str:
        forward = self._ops.get(op.forward)
        given = [(index, maker, fact) for (index, maker), fact in zip(op.inputs, facts, strict=False)]
        given = sorted([*given, *op.constants], key=lambda one: one[0])[:_MOST_INPUTS]
        bad = BadValue(
            kind=op.type,
            name=op.name,
            slot=slot,
            output=output,
            inputs=[self._input(index, maker, fact) for index, maker, fact in given],
            stack=[frame for frame in self._sources.frames(op.stack) if not is_own_file(frame.file)],
            phase=op.phase,
            forward=self._line(forward) if forward is not None else None,
            forward_kind=forward.type if forward is not None else "",
            iteration=iteration,
            where=op.graph,
            more_inputs=len(op.inputs) + len(op.constants) - len(given),
        )
        return message(bad, self.limits)

    def _input(self, index: int, maker: int, fact: Fact) -> Input:
        op = self._ops.get(maker)
        if op is None:
            return Input(index, fact, "given")
        if op.type in _ENTERS:
            return Input(
                index, fact, f'{_ENTERS[op.type]}, "{op.name}"', self._line(op) if op.type != "Const" else None
            )
        named = op.type if op.name == op.type else f'{op.type} "{op.name}"'
        return Input(index, fact, f"from {named}", self._line(op))

    def _line(self, op: KnownOp) -> Frame | None:
        return self._sources.info(op.stack).user


def can_make(op_type: str, inputs: Sequence[Any]) -> bool:
    """Whether a bad output can be this op's own doing. What comes out of variables, iterators, tables and lists, and
    what has no inputs, came in from elsewhere."""
    return op_type not in PASSES_ON and bool(inputs) and all(code_of(tensor.dtype).is_number for tensor in inputs)


def is_checked(op_type: str, slot: int) -> bool:
    return slot == 0 or op_type not in UNCHECKED_OUTPUTS


def _fact_of(tensor: Any) -> Fact:
    return fact_of_array(tensor.numpy())


def fact_of_array(array: Any) -> Fact:
    array = np.asarray(array)
    dtype = native.reference.DTYPES.get(array.dtype.name, DType.UNKNOWN)
    numbers = native.summarize(array) if dtype else Summary.unmeasured(array.size)
    return Fact(dtype, tuple(array.shape), numbers)


def _from_raw(fact: RawFact) -> Fact:
    dtype, dims, numbers, magnitude = fact
    return Fact(DType(dtype), tuple(dims), Summary(*numbers), magnitude)


_numbers = itertools.count(1)
_all: dict[int, Checks] = {}  # a function that the program holds may name an old one


_is_on = False


def switch(lib: Any, on: bool) -> None:
    """Whether bad values stop the program now; functions that were traced under a check stay as they are."""
    global _is_on
    _is_on = on
    lib.set_check(on, explain if on else None)


def python_observer(
    check: int, op: int, slot: int, array: np.ndarray, evidence: Sequence[np.ndarray], iteration: int
) -> None:
    """From an observer in Python: raises when the op made a bad value."""
    if not _is_on:
        return
    try:
        if native.has_bad(np.asarray(array)):
            _all[check].graph_tensor(op, slot, array, evidence, iteration)
    except BadValueInGraph:
        raise
    except Exception as error:
        faults.report("checking a graph's tensor", error)


def explain(check: int, op: int, slot: int, iteration: int, output: RawFact, inputs: Sequence[RawFact]) -> str:
    """From native/stopping/check.c, on whatever thread computed the bad value: the message that stops the program."""
    try:
        return _all[check].explain(op, slot, iteration, output, inputs)
    except Exception as error:
        faults.report("explaining a bad value", error)
        return _UNEXPLAINED
