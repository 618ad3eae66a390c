"""Records calls of functions: their beginnings, their ends, and which call an event inside a graph belongs to."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Sequence
from typing import Any

from tdbg.native.arrays import id_of
from tdbg.native.fallback.makers import made
from tdbg.native.fallback.switches import now
from tdbg.native.record import CALL_BODY, END, EXECUTION, FAILED, INLINE_IDS, MORE

executions = itertools.count()
_open_calls: dict[int, int] = {}  # execution -> graph, in the order they began


def execution_of(graph: int) -> int:
    """The call that an event inside a graph belongs to: the latest of that graph, else the latest of all."""
    calls = list(_open_calls.items())[::-1]
    return next((execution for execution, called in calls if called == graph), calls[0][0] if calls else -1)


def forget_open_calls() -> None:
    _open_calls.clear()


def push_call(kind: int, execution: int, op: int, graph: int, tensors: Sequence[Any]) -> None:
    """A call's beginning with its inputs' ids, or its end with its outputs'; long lists go on in further records."""
    if now.ring is None:
        return
    ids = [id_of(tensor) for tensor in tensors]
    for at in range(0, max(len(ids), 1), INLINE_IDS):
        part = ids[at : at + INLINE_IDS]
        body = CALL_BODY.pack(
            time.time_ns(), execution, -1, op, now.step, 0, threading.get_native_id(), 0, len(ids) & 0xFFFF, 0,
            MORE if at else kind, 0, len(part), graph, *part, *[0] * (INLINE_IDS - len(part)), 0,
        )  # fmt: skip
        now.ring.push(body)


def call_begin(op: int, graph: int, inputs: Sequence[Any], begun: list[int]) -> int:
    """A call of a function begins; returns its execution, and puts it into ``begun``: an exception of a signal handler
    may strike before the caller has what is returned."""
    execution = next(executions)
    begun.append(execution)
    _open_calls[execution] = graph
    push_call(EXECUTION, execution, op, graph, inputs)
    return execution


def call_lost(execution: int) -> None:
    """An exception ended it, before or while its end was told."""
    if _open_calls.pop(execution, None) is not None:
        push_call(FAILED, execution, -1, -1, ())


def call_end(execution: int, op: int, outputs: Sequence[Any] | None) -> None:
    """It ends; ``outputs`` is None when it failed."""
    _open_calls.pop(execution, None)
    if outputs is None:
        push_call(FAILED, execution, op, -1, ())
        return
    for output in outputs:
        made(id_of(output), op)
    push_call(END, execution, op, -1, outputs)
