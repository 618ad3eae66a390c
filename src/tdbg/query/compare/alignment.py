"""Finds which op of one program is which op of another, though lines moved and ops came and went."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from difflib import SequenceMatcher

from tdbg.query.trace.program import Op, Program
from tdbg.vocabulary import Kind

_LARGEST_GROUP = 2000  # beyond it, what is left of a group is matched in order


@dataclass(frozen=True, slots=True)
class Alignment:
    """Which ops belong together. In programs of two frameworks an op without a partner means little: one has a single
    op for what the other does in several."""

    pairs: dict[int, int]  # op of the first program -> op of the second
    only_first: tuple[Op, ...]
    only_second: tuple[Op, ...]
    is_same_framework: bool


def align(first: Program, second: Program) -> Alignment:
    """Pairs ops by the text of the user's line, so that moved lines are the same, and the way through the libraries it
    calls; then, for other versions of these, without that way; then, for edited lines, by names and types. Where the
    programs are of two frameworks, what is left is paired by what it computes."""
    pairs: dict[int, int] = {}
    left, right = list(first.ops.values()), list(second.ops.values())
    is_same = {op.framework for op in left} == {op.framework for op in right}
    for key in (_by_way, _by_line, _by_name, _by_function, *(() if is_same else (_by_line_and_kind, _by_kind))):
        _match(_groups(left, first, key), _groups(right, second, key), pairs)
        taken = set(pairs.values())
        left = [op for op in left if op.number not in pairs]
        right = [op for op in right if op.number not in taken]
    return Alignment(pairs, tuple(left), tuple(right), is_same)


def _groups(ops: list[Op], program: Program, key: Callable[[Op, Program], Hashable]) -> dict[Hashable, list[Op]]:
    """Groups ops by a key, in the order in which they were made, which threads do not change."""
    found: dict[Hashable, list[Op]] = defaultdict(list)
    for op in sorted(ops, key=lambda op: op.number):
        found[key(op, program)].append(op)
    return found


def _match(left: dict[Hashable, list[Op]], right: dict[Hashable, list[Op]], pairs: dict[int, int]) -> None:
    for key, mine in left.items():
        theirs = right.get(key, [])
        if len(mine) == len(theirs) or max(len(mine), len(theirs)) > _LARGEST_GROUP:
            pairs |= {a.number: b.number for a, b in zip(mine, theirs, strict=False)}
        elif theirs:
            matcher = SequenceMatcher(None, [a.name for a in mine], [b.name for b in theirs], autojunk=False)
            for block in matcher.get_matching_blocks():
                for at in range(block.size):
                    pairs[mine[block.a + at].number] = theirs[block.b + at].number


def _place(op: Op, program: Program) -> tuple[str, str]:
    frame = program.user_frame(op)
    return (frame.function.rsplit(".", 1)[-1], program.line_text(frame)) if frame else ("", "")


def _type(op: Op) -> tuple[str, int, bool]:
    # The name of a called function ends in a number that differs from run to run.
    return op.type.rstrip("0123456789"), int(op.phase), op.graph >= 0


def _kind(op: Op) -> tuple[Hashable, int]:
    """What an op computes: without its type, which each framework calls otherwise, and whether it is in a graph."""
    return op.type.lower() if op.kind is Kind.OTHER else op.kind, int(op.phase)


def _by_way(op: Op, program: Program) -> Hashable:
    """Looks at the whole way to an op: a layer makes ops of one type at several lines of its library, and one cast more
    must not shift the others."""
    inner = itertools.takewhile(lambda frame: not frame.is_user, program.stack(op.stack))
    return _place(op, program), _type(op), tuple((frame.file, frame.function, frame.line) for frame in inner)


def _by_line(op: Op, program: Program) -> Hashable:
    inner = next(iter(program.stack(op.stack)), None)
    return _place(op, program), _type(op), inner.function if inner else ""


def _by_name(op: Op, program: Program) -> Hashable:
    return _place(op, program)[0], _type(op), op.name


def _by_function(op: Op, program: Program) -> Hashable:
    return _place(op, program)[0], _type(op)


def _by_line_and_kind(op: Op, program: Program) -> Hashable:
    return _place(op, program), _kind(op)


def _by_kind(op: Op, program: Program) -> Hashable:
    return _place(op, program)[0], _kind(op)
