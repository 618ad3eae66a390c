"""Defines what every alert says: where in the run, where in the program, and one sentence."""

from __future__ import annotations

from dataclasses import dataclass

from tdbg.model import Frame

KINDS = ("bad_values", "retrace", "shape_change")


@dataclass(frozen=True, slots=True)
class Alert:
    """One alert. ``frame`` is the user's line; -1 stands for what does not apply."""

    kind: str
    text: str
    frame: Frame | None
    step: int = -1
    seq: int = -1
    time: int = -1
    op: int = -1
    graph: int = -1
    execution: int = -1


def ordinal(number: int) -> str:
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"
