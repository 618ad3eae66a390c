"""Gathers what is known of the place where trouble began: the op, its inputs as they were, and where they came from.

A case is what the rules for causes look at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.frameworks import dialect_of
from tdbg.frameworks.contract import Dialect
from tdbg.model import BAD_SQL, DType, Flag, Phase
from tdbg.query.flow.lineage import Lineage
from tdbg.query.trace.coverage import is_filtered
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import OUTPUT, SEEN, Row, Rows
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.input_facts import InputFact
from tdbg.vocabulary import ENTRANCES, Kind, Role

_OF_TWO = (Kind.SUBTRACT, Kind.MULTIPLY, Kind.ADD, Kind.DIVIDE, Kind.MAXIMUM, Kind.MINIMUM)
_NOT_COMPUTED = ENTRANCES | {Kind.CONSTANT, Kind.READ, Kind.ITERATOR, Kind.VARIABLE}
_LARGEST_SHOWN = 1 << 24  # elements that are searched for the one that went wrong


class Case:
    """One origin with everything that the trace knows about it."""

    def __init__(self, trace: Trace, rows: Rows, program: Program, process: int, origin: Row) -> None:
        self._trace, self._rows, self.program, self._process = trace, rows, program, process
        self.row = origin
        self._place(program.ops[origin.op])

    def _place(self, op: Op) -> None:
        self.op, self.frame = op, self.program.user_frame(op)

    @property
    def dialect(self) -> Dialect:
        """How the users of the op's framework say things."""
        return dialect_of(self.op.framework)

    @property
    def source(self) -> str:
        return self.program.line_text(self.frame) if self.frame else ""

    @property
    def statement(self) -> str:
        return self.program.statement_text(self.frame) if self.frame else ""

    @property
    def attributes(self) -> str:
        return self.program.attributes(self.op.number)

    @property
    def is_backward(self) -> bool:
        return self.op.phase == Phase.BACKWARD

    @cached_property
    def forward(self) -> Op | None:
        """For an op of a gradient: the op that it differentiates."""
        return self.program.ops.get(self.op.forward) if self.op.forward >= 0 else None

    @cached_property
    def forward_case(self) -> Case | None:
        """For an op of a gradient: the run of the op that it differentiates; of several the one that went bad."""
        op = self.forward
        if op is None or not self.is_backward:
            return None
        same = f"execution = {self.row.execution}" if op.graph >= 0 else f"seq < {self.row.seq}"
        found = self._rows.select(
            self._process,
            f"op = ? AND {same} AND {OUTPUT}",
            [op.number],
            f"ORDER BY step = {self.row.step} DESC, {BAD_SQL} DESC, seq DESC LIMIT 1",
        )
        return self.beside(found[0]) if found else None

    def beside(self, row: Row) -> Case:
        """Makes the case of another row of the same process."""
        return Case(self._trace, self._rows, self.program, self._process, row)

    @property
    def dtype(self) -> DType:
        return DType(self.row.dtype)

    # ---- inputs

    @cached_property
    def inputs(self) -> list[InputFact]:
        """As they were: kept beside the bad output, or else their own rows."""
        if self.row.is_input:
            return []
        lineage = self._before
        made_by: dict[int, tuple[Op, Row | None]] = {}
        for index, maker, row in lineage.inputs(self.row):  # the first is the data, others are a shape or an axis
            made_by.setdefault(index, lineage.real_maker(maker, row))
        facts = []
        for index in sorted(self._evidence.keys() | made_by.keys()):
            maker, seen = made_by.get(index, (self.op, None))
            left_out = self._left_out(index)
            if left_out is not None:  # the row behind it is of another tensor
                maker, seen = left_out, None
            known = self._evidence.get(index) or seen
            if known is not None:
                is_given = seen is not None and seen.is_input and maker.graph < 0
                facts.append(InputFact(index, known, maker, self.program.user_frame(maker), is_given, seen))
        return facts

    @cached_property
    def is_filtered(self) -> bool:
        """Whether only some ops were recorded."""
        return is_filtered(self._trace.processes[self._process])

    def _left_out(self, index: int) -> Op | None:
        """Finds the op of the same graph that computed an input and that a filter left out."""
        if not self.is_filtered or self.op.graph < 0 or index >= len(self.op.inputs):
            return None
        op = self.program.ops.get(self.op.inputs[index][0])
        while op is not None and Role.MOVES in op.roles and op.inputs:
            op = self.program.ops.get(op.inputs[0][0])
        if op is None or op.observed or op.kind in _NOT_COMPUTED or Role.CALLS in op.roles:
            return None
        return op

    def fact(self, index: int) -> InputFact | None:
        return next((fact for fact in self.inputs if fact.index == index), None)

    @property
    def knows_inputs(self) -> bool:
        """Whether a row tells of each input that the op has."""
        if self.op.graph < 0:
            return bool(self.inputs)
        return {fact.index for fact in self.inputs} >= set(range(len(self.op.inputs)))

    def input(self, index: int) -> Row | None:
        fact = self.fact(index)
        return fact.row if fact else None

    @cached_property
    def made_by(self) -> dict[int, Case]:
        """For each input the case of the op that made it, where that was recorded."""
        return {fact.index: self.beside(fact.made) for fact in self.inputs if fact.made and not fact.made.is_input}

    def largest_before(self, op: Op, index: int) -> float:
        """Finds the largest magnitude that an input of an op of a graph had before this row; 0.0 where none was
        recorded."""
        made = Lineage(self._rows, self.program, self._process, []).sources(op, index)
        return self._rows.largest(self._process, made, self.row.seq)

    @cached_property
    def _evidence(self) -> dict[int, Row]:
        row = self.row
        by_slot: dict[int, Row] = {}
        if not row.is_bad:  # they are kept beside bad outputs only
            return by_slot
        for found in self._rows.select(
            self._process,
            f"op = ? AND execution = ? AND iteration = ? AND seq > ? AND flags & {int(Flag.EVIDENCE)} != 0",
            [self.op.number, row.execution, row.iteration, row.seq],
            "ORDER BY seq LIMIT 16",
        ):
            by_slot.setdefault(found.slot, found)
        return by_slot

    @cached_property
    def _before(self) -> Lineage:
        """A lineage over all rows, good ones too, that the origin op can have read, and those its call was given."""
        rows, process, origin = self._rows, self._process, self.row
        given = rows.calls(process).of(origin.execution).inputs
        calls = [str(execution) for execution in rows.calls(process).makers_of(given)]
        calls += [str(origin.execution)] if origin.execution >= 0 else []
        read = Lineage(rows, self.program, process, []).inputs(origin) if self.op.graph >= 0 else []
        # Constants, and all that a dataset computes, belong to no execution: take only what the op itself read.
        where = [f"execution = -1 AND op = {maker.number}" for _, maker, _ in read]
        where += [f"tensor IN ({', '.join(map(str, given))})"] if given else []
        where += [f"execution IN ({', '.join(calls)})"] if calls else []
        known = rows.select_any(process, where)
        return Lineage(rows, self.program, process, known)

    # ---- the program around the op

    def chain(self, index: int = 0, steps: int = 5) -> Iterator[Case]:
        """Goes back to the op that made an input, then to the one that made its first input, and so on; ops that only
        move values are left out."""
        case: Case | None = self.made_by.get(index)
        while case is not None and steps > 0:
            steps -= 1
            if Role.MOVES not in case.op.roles:
                yield case
            case = case.made_by.get(case.carried)

    @property
    def carried(self) -> int:
        """The input that the op works on: the first, or the second of ``1 - x``."""
        first = self.fact(0) if self.op.kind in _OF_TWO and len(self.inputs) == 2 else None
        is_given = first is not None and (first.op.kind == Kind.CONSTANT or first.is_given)
        return int(is_given and first is not None and first.row.elements == 1)

    def makers(self, index: int = 0, steps: int = 5) -> list[Kind]:
        """Gives the kinds of the ops behind an input, the nearest first."""
        return [case.op.kind for case in self.chain(index, steps)]

    def readers(self, op: Op | None = None) -> list[Op]:
        """Finds the ops of the graph that read this one's outputs, looking through ops that only move values."""
        number = (op or self.op).number
        return [one for one in self.program.graph.readers_beyond(number, self._moves) if not self._moves(one)]

    def _moves(self, op: Op) -> bool:
        """Tells whether an op has no rows of its own and only hands on, or became a part of another."""
        return not op.observed and (Role.MOVES in op.roles or op.number in self.program.wholes)

    def row_of(self, op: Op, slot: int = 0) -> Row | None:
        """Finds what another op gave in the same execution (and iteration, where it has one)."""
        if self.row.execution >= 0:
            found = self._rows.of_execution(self._process, self.row.execution).get((op.number, slot), [])
        else:  # all that belongs to no execution may be much
            where = f"op = ? AND slot = ? AND execution = -1 AND {SEEN}"
            found = self._rows.select(self._process, where, [op.number, slot], "ORDER BY seq")
        same = [row for row in found if row.iteration == self.row.iteration]
        return next(iter(same or found), None)

    def dims(self, row: Row) -> tuple[int, ...]:
        return self.program.shapes.get(row.shape, ())

    def runs_before(self) -> int:
        """Counts how often this op gave this output before."""
        return self._rows.count_before(self._process, self.op.number, self.row)

    def earlier_rows(self, count: int) -> list[Row]:
        """Reads what this op gave in its last runs before this one, the latest first."""
        return self._rows.select(
            self._process,
            f"op = ? AND slot = ? AND seq < ? AND {OUTPUT}",
            [self.op.number, self.row.slot, self.row.seq],
            f"ORDER BY seq DESC LIMIT {count}",
        )

    def later_runs(self, count: int) -> list[Case]:
        """Gives the runs of this op after this one, the next first."""
        found = self._rows.select(
            self._process,
            f"op = ? AND slot = ? AND seq > ? AND {OUTPUT}",
            [self.op.number, self.row.slot, self.row.seq],
            f"ORDER BY seq LIMIT {count}",
        )
        return [self.beside(row) for row in found]

    @cached_property
    def read_by(self) -> list[Case]:
        """The forward ops that read this output, with what they gave."""
        if self.op.graph >= 0:
            readers = [reader for reader in self.readers() if reader.phase == self.op.phase]
            rows = [row for row in map(self.row_of, readers) if row is not None]
        else:
            rows = self._eager_readers() if self.row.tensor >= 0 else []
        return [self.beside(row) for row in rows if row.seq != self.row.seq]

    def _eager_readers(self) -> list[Row]:
        takers = [call.execution for call in self._rows.calls(self._process).takers_of(self.row.tensor)]
        numbers = ", ".join(str(taker) for taker in [one for one in takers if one > self.row.execution][:16])
        if not numbers:
            return []
        where = f"execution IN ({numbers}) AND slot = 0 AND {OUTPUT}"
        rows = self._rows.select(self._process, where, None, "ORDER BY seq")
        return [row for row in rows if self.program.ops[row.op].phase == self.op.phase]

    @cached_property
    def is_written_by_user(self) -> bool:
        """Whether the user's own line asks for this op, and not a layer, a loss or an optimizer that the line calls."""
        op = self.forward if self.is_backward and self.forward is not None else self.op
        for frame in self.program.stack(op.stack):
            if frame.is_user:
                return True
            if self.dialect.signs.larger_than_op.search(frame.file):
                return False
        return False

    def is_made_in(self, sign: re.Pattern[str]) -> bool:
        """Tells whether a function of a library with such a name made the op."""
        frames = self.program.stack(self.op.stack)
        return any(sign.search(frame.function) for frame in frames if not frame.is_user)

    def stack_has(self, sign: re.Pattern[str]) -> bool:
        """Tells whether the op was made by code of a file, or a function, with such a name."""
        frames = self.program.stack(self.op.stack)
        return any(sign.search(frame.file) or sign.search(frame.function) for frame in frames)

    # ---- values

    def _array(self, row: Row | None) -> np.ndarray | None:
        if row is None or row.value < 0:
            return None
        try:
            value: Any = self._trace.value(self._process, row.value)
        except TdbgError:  # the blob is damaged; the verdict does without it, and says so among its notes
            return None
        return value if isinstance(value, np.ndarray) and value.size <= _LARGEST_SHOWN else None

    @cached_property
    def output_value(self) -> np.ndarray | None:
        """The bad output itself, when it was kept."""
        return self._array(self.row)

    @property
    def output_shape(self) -> tuple[int, ...] | None:
        return None if self.output_value is None else self.output_value.shape

    @cached_property
    def input_values(self) -> dict[int, np.ndarray]:
        """The inputs that were kept whole."""
        arrays = {fact.index: self._array(fact.row) for fact in self.inputs}
        return {index: array for index, array in arrays.items() if array is not None}

    @cached_property
    def element(self) -> tuple[int, ...] | None:
        """Where in the output the first bad element is."""
        value = self.output_value
        if value is None:
            return None
        with np.errstate(all="ignore"):
            bad = ~np.isfinite(value.astype(np.complex128 if value.dtype.kind == "c" else np.float64))
        if not bad.any():
            return None
        return tuple(int(at) for at in np.unravel_index(int(np.argmax(bad)), bad.shape))

    def at_element(self, index: int) -> float | None:
        """Gives the element of an input that met the output's first bad one, for ops that work element by element."""
        value, element, output = self.input_values.get(index), self.element, self.output_value
        if value is None or element is None or output is None:
            return None
        try:
            return float(np.broadcast_to(value, output.shape)[element])
        except (ValueError, TypeError):
            return None
