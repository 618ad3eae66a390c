"""Holds what tdbg keeps of graphs and their ops while the program runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tdbg.capture.bad_value import Fact
from tdbg.frameworks.tensorflow.capture.signatures import NOT_TRACED
from tdbg.model import DType, Phase


class NewOp(NamedTuple):
    """An op as TensorFlow's callback tells of it."""

    number: int
    type: str
    name: str
    inputs: Sequence[Any]
    attrs: Any
    outputs: Sequence[Any]
    dtypes: list[DType]  # of the outputs
    stack: int
    phase: Phase
    forward: int


class GraphRecord:
    """What tdbg keeps of one FuncGraph while the program runs."""

    def __init__(self, number: int, name: str, is_outermost: bool, detached: bool, compiled: bool, stack: int) -> None:
        self.number, self.name, self.is_outermost, self.stack = number, name, is_outermost, stack
        self.detached, self.compiled = detached, compiled  # detached: a dataset's, which runs apart from any call
        self.ops: dict[str, int] = {}  # op name -> op number
        self.calls: dict[str, tuple[int, Phase, int]] = {}  # not written yet: op name -> stack, phase, forward
        self.constants: dict[str, Fact] = {}  # finite ones, while a check is on: op name -> its numbers
        self.checked: set[tuple[str, int]] = set()  # outputs that the check looks at: op name, slot
        self.fresh_reads: set[str] = set()  # variables whose value is known: read or assigned, and not changed since
        self.has_gradient = self.has_update = False
        self.controls: set[tuple[int, int]] = set()  # control edges already written
        # Names of ops that no other op needs and that must run all the same; the ops would keep their graph alive.
        self.watches: list[str] = []
        self.traced = NOT_TRACED
        self.watched_calls: set[str] = set()  # calls of functions that cannot be looked inside
