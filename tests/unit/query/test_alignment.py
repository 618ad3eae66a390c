"""Which op of one program is which op of another: by native type in one framework, by kind between two."""

from __future__ import annotations

from typing import Any, cast

from tdbg.model import Frame, Phase
from tdbg.query.compare.alignment import align
from tdbg.query.trace.program import Op, Program
from tdbg.vocabulary import Kind


class Written:
    """A program with one op on each line; all that alignment asks of a Program."""

    def __init__(self, framework: str, *ops: tuple[str, Kind], line: str = "{type}(x)") -> None:
        self.ops = {
            number: Op(number, -1, name, name, (), number, Phase.FORWARD, -1, True, kind, framework=framework)
            for number, (name, kind) in enumerate(ops)
        }
        self._line = line

    def user_frame(self, op: Op) -> Frame:
        return Frame("train.py", op.number + 1, "train", True)

    def stack(self, number: int) -> list[Frame]:
        return [Frame("train.py", number + 1, "train", True)]

    def line_text(self, frame: Frame) -> str:
        return self._line.format(type=self.ops[frame.line - 1].type)


def pairs_of(first: Any, second: Any) -> dict[int, int]:
    return align(cast(Program, first), cast(Program, second)).pairs


def test_in_one_framework_another_type_is_another_op() -> None:
    first = Written("tensorflow", ("Log", Kind.LOG), ("AddV2", Kind.ADD))
    second = Written("tensorflow", ("Add", Kind.ADD), ("Log", Kind.LOG))
    assert pairs_of(first, second) == {0: 1}


def test_between_frameworks_ops_that_compute_the_same_belong_together() -> None:
    first = Written("tensorflow", ("MatMul", Kind.MATMUL), ("Log", Kind.LOG), ("Strange", Kind.OTHER))
    second = Written("torch", ("mm", Kind.MATMUL), ("strange", Kind.OTHER), ("log", Kind.LOG), ("odd", Kind.OTHER))
    found = align(cast(Program, first), cast(Program, second))
    assert found.pairs == {0: 0, 1: 2, 2: 1}
    assert [op.type for op in found.only_second] == ["odd"]
    assert not found.is_same_framework


def test_between_frameworks_the_same_line_comes_first() -> None:
    first = Written("tensorflow", ("Log", Kind.LOG), line="log(x)")
    second = Written("torch", ("exp", Kind.EXP), ("log", Kind.LOG), line="log(x)")
    assert pairs_of(first, second) == {0: 1}
