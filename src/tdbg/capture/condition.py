"""Decides what it can of an expression when an op is made, and gives the tests that are left, for Python or C.

What a graph's op is (type, name, element type, phase, device, output) is decided when it is made. The numbers are left;
``compiled`` writes them down as native/stopping/condition.c follows them.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import Any

from tdbg.expressions import Both, Comparison, Expression, Name, Opposite, Range, Search, Truth
from tdbg.model import NAMES, Phase, Summary

# In the order of native/stopping/condition.c.
OF_TENSORS = (*NAMES, "inf", "max_abs", "step", "iteration", "bad")
_MARKS = ("==", "!=", "<", "<=", ">", ">=")
_COMPARE, _RANGE, _CONSTANT, _AND, _OR, _NOT = range(6)
_TEST = struct.Struct("=4i2d")
_TRUTHS = {None: -1, False: 0, True: 1}

Left = Truth | Comparison | Search | Range | Both | Opposite | bool | None  # a truth, or what decides it


def known_of(op_type: str, name: str, phase: Phase, device: str) -> dict[str, Any]:
    """What is known of an op before it runs."""
    return {"op": op_type, "name": name, "phase": phase.label, "device": device}


def event_of(numbers: Summary | None, elements: int, step: int, iteration: int) -> dict[str, Any]:
    """The fields of one tensor; what was not measured is not there."""
    event: dict[str, Any] = {"elements": elements, "step": step, "iteration": iteration}
    if numbers is not None:
        event |= {name: number for name, number in numbers.numbers().items() if number == number}
        event |= {"elements": elements, "inf": numbers.pos_inf + numbers.neg_inf, "bad": numbers.is_bad}
        if not math.isnan(numbers.min):
            event["max_abs"] = max(abs(numbers.min), abs(numbers.max))
    return event


def fields_in(part: Any) -> set[str]:
    """The fields that an expression, or what is left of one, speaks of."""
    if isinstance(part, (bool, type(None))):
        return set()
    if isinstance(part, Both):
        return fields_in(part.left) | fields_in(part.right)
    if isinstance(part, Opposite):
        return fields_in(part.inner)
    if isinstance(part, Comparison):
        return {side.field for side in (part.left, part.right) if isinstance(side, Name)}
    return {part.field}


def left_over(expression: Expression, known: Mapping[str, Any]) -> Left:
    """The part of it that is not decided by what is known."""
    return _left(expression.root, known)


def can_be_met(left: Left) -> bool:
    return left is not None and left is not False


def _left(part: Any, known: Mapping[str, Any]) -> Left:
    if isinstance(part, Both):
        return _both(part.word, _left(part.left, known), _left(part.right, known))
    if isinstance(part, Opposite):
        inner = _left(part.inner, known)
        return Opposite(inner) if not isinstance(inner, (bool, type(None))) else None if inner is None else not inner
    fields = fields_in(part)
    if fields <= known.keys():
        return part.of(known)
    if isinstance(part, Comparison) and fields & known.keys():
        return Comparison(_filled(part.left, known), part.mark, _filled(part.right, known))
    return part


def _filled(side: Any, known: Mapping[str, Any]) -> Any:
    return known[side.field] if isinstance(side, Name) and side.field in known else side


def _both(word: str, left: Left, right: Left) -> Left:
    ends_it = word == "or"
    if ends_it in (left, right):
        return ends_it
    for one, other in ((left, right), (right, left)):
        if one is (not ends_it):
            return other
    if left is None and right is None:
        return None
    return Both(word, left, right)


def compiled(left: Left) -> bytes:
    """As native/stopping/condition.c follows it: postfix."""
    if isinstance(left, (bool, type(None))):
        return _TEST.pack(_CONSTANT, _TRUTHS[left], -1, -1, 0.0, 0.0)
    if isinstance(left, Both):
        word = _OR if left.word == "or" else _AND
        return compiled(left.left) + compiled(left.right) + _TEST.pack(word, 0, -1, -1, 0.0, 0.0)
    if isinstance(left, Opposite):
        return compiled(left.inner) + _TEST.pack(_NOT, 0, -1, -1, 0.0, 0.0)
    if isinstance(left, Truth):  # 1 or 0 in C
        return _TEST.pack(_COMPARE, _MARKS.index("=="), OF_TENSORS.index(left.field), -1, 0.0, 1.0)
    if isinstance(left, Range):
        return _TEST.pack(_RANGE, 0, OF_TENSORS.index(left.field), -1, left.first, left.end)
    assert isinstance(left, Comparison), left
    (a, first), (b, second) = _side(left.left), _side(left.right)
    return _TEST.pack(_COMPARE, _MARKS.index(left.mark), first, second, a, b)


def _side(side: Any) -> tuple[float, int]:
    return (0.0, OF_TENSORS.index(side.field)) if isinstance(side, Name) else (float(side), -1)
