"""The row where trouble began in; the case out: the op, its inputs as they were, and where they came from.

A case is what the rules for causes look at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.model import DType, Flag, Frame, Phase
from tdbg.query.lineage import Lineage
from tdbg.query.program import Op, Program, short_path
from tdbg.query.rows import Row, Rows
from tdbg.store.reader import Trace

_MOVE = ("Identity", "IdentityN", "Reshape", "Transpose", "ExpandDims", "Squeeze", "StopGradient", "Cast")
_LARGEST_SHOWN = 1 << 24  # elements that are searched for the one that went wrong


@dataclass(frozen=True, slots=True)
class InputFact:
    """One input of the origin op: its numbers and where it came from."""

    index: int
    row: Row
    op: Op
    frame: Frame | None
    is_given: bool = False  # an array or a constant of the program, that no op made

    def as_text(self) -> str:
        row = self.row
        numbers = "not measured"
        if row.min is not None:
            zeros = f" ({row.zero:,} exact zero{'s' if row.zero > 1 else ''})" if row.zero else ""
            numbers = f"min {row.min:.6g}, max {row.max:.6g}{zeros}"
        elif row.zero is not None:
            numbers = f"{row.negative:,} negative, {row.zero:,} zero, {row.positive:,} positive of {row.elements:,}"
        origin = ", given" if self.is_given else f", from {self.op.type}"
        where = f", {short_path(self.frame.file)}:{self.frame.line}" if self.frame else ""
        return f"input {self.index}: {numbers}{origin}{where}"


class Case:
    """One origin with everything that the trace knows about it."""

    def __init__(self, trace: Trace, rows: Rows, program: Program, process: int, origin: Row) -> None:
        self._trace, self._rows, self.program, self._process = trace, rows, program, process
        self.row = origin
        self.op = program.ops[origin.op]
        self.frame = program.user_frame(self.op)
        self.source = program.line_text(self.frame) if self.frame else ""
        self.statement = program.statement_text(self.frame) if self.frame else ""

    @property
    def is_backward(self) -> bool:
        return self.op.phase == Phase.BACKWARD

    @cached_property
    def forward(self) -> Op | None:
        """For an op of a gradient: the op that it differentiates."""
        return self.program.ops.get(self.op.forward) if self.op.forward >= 0 else None

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
        made_by: dict[int, tuple[Op, Row | None]] = {
            index: lineage.real_maker(maker, row) for index, maker, row in lineage.inputs(self.row)
        }
        facts = []
        for index in sorted(self._evidence.keys() | made_by.keys()):
            maker, seen = made_by.get(index, (self.op, None))
            known = self._evidence.get(index) or seen
            if known is not None:
                is_given = seen is not None and seen.is_input and maker.graph < 0
                facts.append(InputFact(index, known, maker, self.program.user_frame(maker), is_given))
        return facts

    def input(self, index: int) -> Row | None:
        return next((fact.row for fact in self.inputs if fact.index == index), None)

    @cached_property
    def _evidence(self) -> dict[int, Row]:
        row = self.row
        by_slot: dict[int, Row] = {}
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
        call = rows.query(
            f"SELECT inputs FROM executions WHERE process = {process} AND execution = ?", [origin.execution]
        )
        given = [int(tensor) for tensor in (call[0][0] if call else [])]
        made_in = rows.query(
            f"SELECT execution FROM ends WHERE process = {process} AND list_has_any(outputs, ?)", [given]
        )
        calls = [str(execution) for (execution,) in made_in]
        calls += [str(origin.execution)] if origin.execution >= 0 else []
        read = Lineage(rows, self.program, process, []).inputs(origin) if self.op.graph >= 0 else []
        # Constants, and all that a dataset computes, belong to no execution: take only what the op itself read.
        where = [f"execution = -1 AND op = {maker.number}" for _, maker, _ in read]
        where += [f"tensor IN ({', '.join(map(str, given))})"] if given else []
        where += [f"execution IN ({', '.join(calls)})"] if calls else []
        known = rows.select(process, " OR ".join(where), None, "ORDER BY seq") if where else []
        return Lineage(rows, self.program, process, known)

    # ---- the program around the op

    def makers(self, index: int, steps: int = 12) -> Iterator[Op]:
        """The op that made an input, then the op that made its first input, and so on; ops that move are left out."""
        fact = next((fact for fact in self.inputs if fact.index == index), None)
        op: Op | None = fact.op if fact is not None else self._input_op(self.op, index)
        while op is not None and steps > 0:
            steps -= 1
            if op.type not in _MOVE:
                yield op
            op = self._input_op(op, 0)

    def _input_op(self, op: Op, index: int) -> Op | None:
        return self.program.ops.get(op.inputs[index][0]) if index < len(op.inputs) else None

    def readers(self, op: Op | None = None) -> list[Op]:
        """The ops of the graph that read this one's outputs, looking through ops that move."""
        number = (op or self.op).number
        found, waiting, seen = [], [number], {number}
        while waiting:
            for reader in self.program.readers.get(waiting.pop(), ()):
                if reader.number not in seen:
                    seen.add(reader.number)
                    if reader.type in _MOVE:
                        waiting.append(reader.number)
                    else:
                        found.append(reader)
        return found

    def row_of(self, op: Op, slot: int = 0) -> Row | None:
        """What another op gave in the same execution (and iteration, where it has one)."""
        found = self._rows.select(
            self._process,
            f"op = ? AND slot = ? AND execution = ? AND flags & {int(Flag.EVIDENCE)} = 0",
            [op.number, slot, self.row.execution],
            f"ORDER BY iteration = {self.row.iteration} DESC, seq LIMIT 1",
        )
        return found[0] if found else None

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
        """The element of an input that met the output's first bad one, for ops that work element by element."""
        value, element, output = self.input_values.get(index), self.element, self.output_value
        if value is None or element is None or output is None:
            return None
        try:
            return float(np.broadcast_to(value, output.shape)[element])
        except (ValueError, TypeError):
            return None
