"""Tells which inputs of a checked op the check knows without holding them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from tensorflow.python.framework import tensor_util

from tdbg.capture.bad_value import Fact
from tdbg.frameworks.tensorflow.capture import attributes
from tdbg.frameworks.tensorflow.capture.checks import fact_of_array
from tdbg.frameworks.tensorflow.capture.graph_record import GraphRecord, NewOp
from tdbg.frameworks.tensorflow.capture.observers import is_observer
from tdbg.frameworks.tensorflow.capture.op_kinds import DEBUGGERS, IN_PLACE
from tdbg.frameworks.tensorflow.ops import MOVERS


class KnownInputs(NamedTuple):
    """Inputs of an op of which the check knows the numbers without holding them: which ones; constants with theirs."""

    remembered: Sequence[int]
    constants: Mapping[int, Fact]


NO_INPUTS = KnownInputs((), {})


def known_inputs(observers: Any, record: GraphRecord, op: NewOp) -> KnownInputs:
    """Inputs that need not be taken along, which would keep the op from computing in place: the check notes what it
    sees of them when they are made, or they never change."""
    if op.type not in IN_PLACE or observers.remember is None:
        return NO_INPUTS
    makers = {index: _computed_by(tensor) for index, tensor in enumerate(op.inputs)}
    remembered = [index for index, maker in makers.items() if maker in record.checked]
    constants = {index: record.constants[name] for index, (name, _) in makers.items() if name in record.constants}
    rule = IN_PLACE[op.type] if len(remembered) + len(constants) == len(op.inputs) else 0
    for index in remembered:
        name, slot = makers[index]
        observers.remember(op.number, record.ops[name], slot, 0.0, rule)
    for fact in constants.values():
        magnitude = max(abs(fact.numbers.min), abs(fact.numbers.max)) if fact.numbers.elements else 0.0
        observers.remember(op.number, -1, 0, magnitude, rule)
    return KnownInputs(remembered, constants)


def learn_constant(record: GraphRecord, op: NewOp) -> None:
    proto = dict(attributes.pairs(op.attrs)).get("value")
    fact = fact_of_array(tensor_util.MakeNdarray(proto.tensor)) if proto is not None else None
    if fact is not None and not fact.numbers.is_bad:
        record.constants[op.name] = fact


def made_by(tensor: Any) -> tuple[str, int]:
    """(op name, slot) of the user's own tensor, looking through observers."""
    op = tensor.op
    while is_observer(op) or op.type in DEBUGGERS:
        tensor = op.inputs[0]
        op = tensor.op
    return op.name, tensor.value_index


def _computed_by(tensor: Any) -> tuple[str, int]:
    """The same, looking through ops that only move elements as well."""
    while is_observer(tensor.op) or tensor.op.type in DEBUGGERS or tensor.op.type in MOVERS:
        if tensor.value_index:  # of IdentityN
            break
        tensor = tensor.op.inputs[0]
    return tensor.op.name, tensor.value_index
