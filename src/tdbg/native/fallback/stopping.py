"""Takes what the compiled extension is told of checks and conditions; here observers ask by themselves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tdbg.native.fallback.switches import now


def set_check(on: bool, explain: Any) -> None:
    """Observers and eager ops that are to stop the program ask and explain by themselves here."""
    now.check = bool(on)


def note_input(op: int, maker: int, slot: int, magnitude: float, rule: int) -> None:
    """Observers in Python take all inputs along, so there is nothing to note."""


def set_breaks(met: Any, tests: Sequence[tuple[int, int, bytes]]) -> None:
    """Observers and eager ops that may hold the program ask by themselves here."""


def add_break(test: tuple[int, int, bytes]) -> None:
    """The same."""
