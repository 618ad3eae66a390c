"""The way back through loops that are made of ops: which iteration's value an op saw."""

from __future__ import annotations

from tdbg.model import Phase
from tdbg.query.flow.loops import Way, follow, is_pop, popped, seen
from tdbg.query.trace.program import Op
from tdbg.query.trace.rows import Row
from tdbg.vocabulary import Kind


def op(kind: Kind) -> Op:
    return Op(0, 0, kind.value, "", (), -1, Phase.FORWARD, -1, True, kind)


def row(seq: int, iteration: int, mean: float = 0.0) -> Row:
    numbers = (1, 0, 0, 1, 0, 0, 0, mean, mean, mean, 0.0)
    return Row(*numbers, seq, 0, 0, 1, 0, iteration, 3, 0, 3, -1, -1)


def test_the_way_through_a_loop_variable() -> None:
    merge, enter, back = op(Kind.MERGE), op(Kind.LOOP_ENTER), op(Kind.LOOP_NEXT)
    assert follow(Way.SAME, op(Kind.SWITCH), merge) == Way.SAME
    assert follow(Way.SAME, merge, enter) == Way.FIRST
    assert follow(Way.FIRST, enter, op(Kind.ADD)) == Way.FIRST
    assert follow(follow(Way.SAME, merge, back), back, op(Kind.MULTIPLY)) == Way.BEFORE
    assert follow(Way.SAME, enter, op(Kind.ADD)) == Way.ELSEWHERE  # the same for all iterations
    assert follow(Way.SAME, op(Kind.LOOP_EXIT), op(Kind.SWITCH)) == Way.ELSEWHERE


def test_what_each_iteration_saw() -> None:
    rows = [row(1, 0), row(3, 1), row(5, 2)]
    assert seen(rows, Way.BEFORE, row(6, 2)) == rows[1]
    assert seen(rows, Way.BEFORE, row(2, 0)) is None
    outside = [row(0, -1)]
    assert seen(outside, Way.FIRST, row(2, 0)) == outside[0]
    assert seen(outside, Way.FIRST, row(4, 1)) is None
    assert seen(rows, Way.ELSEWHERE, row(9, -1)) == rows[2]
    assert seen(rows, Way.ELSEWHERE, row(0, -1)) is None


def test_what_is_taken_off_a_stack_is_what_was_put_there() -> None:
    pushed = [row(1, 0, 1.0), row(2, 1, 2.0), row(3, 2, 3.0)]
    assert is_pop(op(Kind.POP)) and not is_pop(op(Kind.PUSH))
    assert popped(pushed, row(9, 0, 2.0)) == pushed[1]
    assert popped(pushed, row(9, 0, 7.0)) is None
