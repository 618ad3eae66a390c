"""Tells the way that a value came: each op on it with its line, back to where bad values began, or, of a good value, to
what entered the program."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tdbg.errors import TdbgError
from tdbg.model import Flag, Frame
from tdbg.query.scene.ops import Ops
from tdbg.query.trace.coverage import find_coverage
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Row, Rows
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.case import Case, InputFact
from tdbg.query.verdict.trouble import Trouble
from tdbg.vocabulary import Kind

_LONGEST = 40


@dataclass(frozen=True, slots=True)
class Stop:
    """One tensor on the way."""

    tensor: str  # as the user knows it
    row: Row
    op: Op
    frame: Frame | None
    source: str

    def as_dict(self) -> dict[str, Any]:
        return {
            "tensor": self.tensor,
            "op_type": self.op.type,
            "step": self.row.step,
            "seq": self.row.seq,
            "bad": self.row.bad_text() if self.row.is_bad else None,
            "min": self.row.min,
            "max": self.row.max,
            "file": self.frame.file if self.frame else None,
            "line": self.frame.line if self.frame else None,
            "source": self.source or None,
        }


@dataclass(frozen=True, slots=True)
class Way:
    """``stops``: the tensor itself first. ``inputs``: what the last op was given. ``end`` says in words why it ends."""

    stops: tuple[Stop, ...]
    inputs: tuple[InputFact, ...]
    end: str


def find_way(trace: Trace, process: int, seq: int) -> Way:
    """TdbgError when there is no such event."""
    return Ways(trace, process).find(seq)


class Ways:
    """The ways in one process; what is the same for all events is looked for once."""

    def __init__(self, trace: Trace, process: int) -> None:
        self._trace, self._process = trace, process
        self._rows, self._program, self._ops = Rows(trace), Program(trace, process), Ops(trace, process)

    @cached_property
    def _trouble(self) -> Trouble:
        return Trouble(self._rows, self._program, self._process, find_coverage(self._trace, self._rows).is_partial)

    def find(self, seq: int) -> Way:
        """TdbgError when there is no such event."""
        found = self._rows.select(self._process, f"seq = {int(seq)} AND flags & {int(Flag.EVIDENCE)} = 0")
        if not found or found[0].op not in self._program.ops:
            raise TdbgError(f"this trace has no event #{seq:,} with a known op")
        row = found[0]
        if row.is_bad:
            cases = [self._case(one) for one in self._trouble.path(row)]
            end = _end_of_bad(cases[-1])
        else:
            cases = _largest_inputs(self._case(row))
            end = _end_of_good(cases[-1])
        stops = [Stop(_name(self._ops, case), case.row, case.op, case.frame, case.source) for case in cases]
        return Way(tuple(stops), tuple(cases[-1].inputs), end)

    def _case(self, row: Row) -> Case:
        return Case(self._trace, self._rows, self._program, self._process, row)


def _name(ops: Ops, case: Case) -> str:
    return f"{ops.name_of(case.op.number, case.row.is_input) or case.op.name}:{case.row.slot}"


def _largest_inputs(case: Case) -> list[Case]:
    """Goes back over the input with the largest elements each time: it says most about the size of what came of it."""
    found, seen = [case], {case.row.seq}
    while len(found) < _LONGEST:
        made = [fact for fact in found[-1].inputs if fact.made is not None and fact.made.seq not in seen]
        if not made:
            break
        largest = max(made, key=_size)
        following = found[-1].made_by.get(largest.index)
        if following is None:
            break
        seen.add(following.row.seq)
        found.append(following)
    return found


def _size(fact: InputFact) -> float:
    row = fact.row
    return max(abs(row.min), abs(row.max)) if row.min is not None and row.max is not None else -1.0


def _end_of_bad(case: Case) -> str:
    if case.row.is_input:
        return "it came into the program like this"
    if case.op.kind == Kind.READ:
        return f"{_variable(case)} already held it; what wrote it was not recorded"
    facts = case.inputs
    if facts and not any(fact.row.is_bad for fact in facts):
        return "it began here: the inputs of this op are finite"
    return "it began here, as far as the recording shows"


def _end_of_good(case: Case) -> str:
    if case.op.kind == Kind.READ:
        return _variable(case)
    if case.op.kind == Kind.CONSTANT:
        return "a constant of the program"
    if case.row.is_input or case.op.kind == Kind.ARGUMENT:
        return "came into the program"
    return "its inputs:" if case.inputs else "nothing before it was recorded"


def _variable(case: Case) -> str:
    return f"the {case.dialect.word('variable')} {case.program.variable_of(case.op)}"
