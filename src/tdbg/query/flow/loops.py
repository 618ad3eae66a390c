"""Tells how the iteration of what an op read relates to the op's own, in loops that are made of ops.

A loop's variable is a Merge of what entered and what the iteration before handed on. Gradients of loops read what the
forward loop put on a stack, in the opposite order.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from tdbg.data_inputs import data_inputs
from tdbg.query.trace.program import Op
from tdbg.query.trace.rows import Row
from tdbg.vocabulary import Kind


class Way(IntEnum):
    """From a reader back to what it read."""

    SAME = 0  # in the reader's own iteration
    BEFORE = 1  # in the iteration before
    FIRST = 2  # outside of the loop, and only the first iteration saw it
    ELSEWHERE = 3  # outside of the loop, or in another loop


def follow(way: Way, op: Op, maker: Op | None) -> Way:
    """One step further back: through ``op`` to ``maker``, one of those that it reads."""
    if op.kind == Kind.MERGE and way == Way.SAME and maker is not None and maker.kind == Kind.LOOP_ENTER:
        return Way.FIRST
    if op.kind == Kind.LOOP_NEXT:
        return Way.BEFORE if way == Way.SAME else way
    if op.kind in (Kind.LOOP_ENTER, Kind.LOOP_EXIT):
        return way if way == Way.FIRST else Way.ELSEWHERE
    return way


def carried(op: Op) -> tuple[tuple[int, int], ...]:
    """The inputs whose value an op can hand on: of a Switch not the one that says where to."""
    return tuple(one for _, one in data_inputs(op.kind, op.inputs))


def seen(rows: Sequence[Row], way: Way, row: Row) -> Row | None:
    """Of the rows of one tensor the one that the reader's row saw, by a way that leads through a loop."""
    if way == Way.BEFORE:
        return next((one for one in reversed(rows) if one.iteration == row.iteration - 1), None)
    if way == Way.FIRST and row.iteration > 0:
        return None
    before = [one for one in rows if one.seq < row.seq]
    return before[-1] if before else None


def is_pop(op: Op) -> bool:
    return op.kind == Kind.POP


def popped(rows: Sequence[Row], row: Row) -> Row | None:
    """What was put on a stack is what is taken off it."""
    return next((one for one in reversed(rows) if one.looks_like(row)), None)
