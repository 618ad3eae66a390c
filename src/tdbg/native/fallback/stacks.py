"""Interns Python stacks as parent-pointer chains of (code, instruction), as native/stacks/stacks.c does."""

from __future__ import annotations

import itertools
import sys
from types import CodeType, FrameType

DEEPEST = 1024


class Stacks:
    """A whole stack is one number: that of its innermost frame's node."""

    def __init__(self) -> None:
        self._nodes: dict[int, tuple[int, CodeType, int]] = {}
        # By the code's address: it is kept alive, and comparing code objects would compare what is in them.
        self._numbers: dict[tuple[int, int, int], int] = {}
        self._next = itertools.count()

    def number_of(self, frame: FrameType | None) -> int:
        chain: list[tuple[CodeType, int]] = []
        while frame is not None and len(chain) < DEEPEST:
            chain.append((frame.f_code, frame.f_lasti))
            frame = frame.f_back
        stack = -1
        for code, instruction in reversed(chain):
            stack = self._intern(stack, code, instruction)
        return stack

    def _intern(self, parent: int, code: CodeType, instruction: int) -> int:
        key = (parent, id(code), instruction)
        found = self._numbers.get(key)
        if found is not None:
            return found
        # Two threads may give one stack two numbers, which does no harm; a lock would make every op wait.
        number = next(self._next)
        self._nodes[number] = (parent, code, instruction)
        self._numbers[key] = number
        return number

    def get(self, stack: int) -> tuple[int, CodeType, int]:
        """(parent, code, line)."""
        if stack not in self._nodes:
            raise IndexError(f"no stack {stack}")
        parent, code, instruction = self._nodes[stack]
        return parent, code, _line(code, instruction)


def _line(code: CodeType, instruction: int) -> int:
    if instruction < 0:
        return code.co_firstlineno
    for start, end, line in code.co_lines():
        if start <= instruction < end:
            return -1 if line is None else line
    return -1


stacks = Stacks()


def stack_here(skip: int) -> int:
    """The caller's stack without its ``skip`` innermost frames."""
    try:
        return stacks.number_of(sys._getframe(1 + skip))
    except ValueError:  # fewer frames than that
        return -1


def stack_get(stack: int) -> tuple[int, CodeType, int]:
    return stacks.get(stack)
