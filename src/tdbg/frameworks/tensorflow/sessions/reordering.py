"""Finds the lines behind a constant that Grappler made by multiplying, or adding, constants before anything else.

``(w * x) * a * b`` becomes ``(a * b) * (w * x)``, and ``a * b`` gets the name that ``w * x`` had. Where ``a * b`` is
larger than its type holds, the program computes infinity, and no op of it reads what would make one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from tensorflow.python.framework import tensor_util

_FAMILIES = (("*", frozenset({"Mul", "RealDiv", "Div"})), ("+", frozenset({"Add", "AddV2", "Sub"})))
_MOST_OPS = 64


class Reordering(NamedTuple):
    """``last``: the program's op that brings in the last constant; ``factors``: (op, constant in words)."""

    last: Any
    sign: str
    factors: list[tuple[Any, str]]


def reordered(op: Any, is_kin: Callable[[Any], bool]) -> Reordering | None:
    """What was put together under the name of an op that reads more than constants; None: nothing that is known.

    ``is_kin``: whether another op may be part of it. A gradient multiplies with the constants of the forward pass.
    """
    sign, family = next(((sign, types) for sign, types in _FAMILIES if op.type in types), ("", frozenset()))
    if not family or all(tensor.op.type == "Const" for tensor in op.inputs):
        return None
    chain = _chain(op, lambda one: one.type in family and is_kin(one))
    found = [
        (one, _in_words(one, at)) for one in chain for at, tensor in enumerate(one.inputs) if _value(tensor) is not None
    ]
    return Reordering(found[-1][0], sign, found) if len(found) > 1 else None


def _chain(op: Any, is_kin: Callable[[Any], bool]) -> list[Any]:
    """The ops that read each other, in the order in which the program made them."""
    found, waiting = {op.name: op}, [op]
    while waiting and len(found) < _MOST_OPS:
        one = waiting.pop()
        for near in (*one.outputs[0].consumers(), *(tensor.op for tensor in one.inputs)):
            if near.name not in found and is_kin(near):
                found[near.name] = near
                waiting.append(near)
    return [one for one in op.graph.get_operations() if one.name in found]


def _value(tensor: Any) -> Any:
    return tensor_util.constant_value(tensor) if tensor.op.type == "Const" else None


def _in_words(op: Any, at: int) -> str:
    value = np.asarray(_value(op.inputs[at]))
    size = f"{value.ravel()[0]:g}" if value.size == 1 else f"up to {np.abs(value.astype(np.float64)).max(initial=0):g}"
    is_divisor = at == 1 and op.type in ("RealDiv", "Div")
    return f"1/{size}" if is_divisor else f"-{size}" if at == 1 and op.type == "Sub" else size
