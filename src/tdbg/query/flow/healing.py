"""Finds the op behind which bad values were gone, and tells whether that made them any better."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property

from tdbg.data_inputs import takes_values
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Row, Rows
from tdbg.vocabulary import HEAL, ONLY_MOVE, SPARE_NAN

_MOST_TENSORS = 400  # of eager code whose readers are looked for


class Healing:
    """What became of bad values that went no further."""

    def __init__(self, rows: Rows, program: Program, process: int, known: Sequence[Row]) -> None:
        self._rows, self._program, self._process, self._known = rows, program, process, known

    def healed_by(self, row: Row) -> Op | None:
        """The op that read these bad values, which did not go on, and gave good ones; None when nobody read them."""
        op = self._program.ops[row.op]
        if op.graph < 0:
            return self._eager.get(row.tensor) if row.nan == 0 else None
        readers = [reader for reader in self._readers.get(op.number, ()) if reader.phase == op.phase]
        return next((reader for reader in readers if (reader.number, row.execution) in self._ran), None)

    def is_swallowed(self, row: Row, children: Mapping[int, Sequence[Row]]) -> bool:
        """Whether NaN, of a variable, went on until an argmax, a comparison or a ReLU behind which nothing is to be
        seen of it. A program that asks for NaN, chooses, or takes other elements means it to be there."""
        if row.nan == 0 or self._program.ops[row.op].graph < 0:
            return False
        seen, waiting, is_hidden = {row.seq}, [row], False
        while waiting:
            one = waiting.pop()
            if one.op in self._spared:
                return False
            is_hidden = is_hidden or (not children.get(one.seq) and self.healed_by(one) is not None)
            new = [child for child in children.get(one.seq, ()) if child.seq not in seen]
            seen.update(child.seq for child in new)
            waiting += new
        return is_hidden

    @cached_property
    def _readers(self) -> dict[int, list[Op]]:
        """Which ops of its graph read an op, looking through those that only move values."""
        return {number: [one for one in ops if one.observed] for number, ops in self._nearest.items()}

    @cached_property
    def _spared(self) -> set[int]:
        """Ops whose NaN the program asks for, or leaves out."""
        asking = SPARE_NAN | ONLY_MOVE
        return {number for number, ops in self._nearest.items() if any(one.kind in asking for one in ops)}

    @cached_property
    def _nearest(self) -> dict[int, list[Op]]:
        """The ops that read one, up to the first on each way whose values are recorded."""
        return {number: self._readers_of(number) for number in {row.op for row in self._known}}

    def _readers_of(self, number: int) -> list[Op]:
        readers = self._program.graph.readers_beyond(
            number, lambda reader: takes_values(reader.kind) and not reader.observed
        )
        return [reader for reader in readers if takes_values(reader.kind)]

    @cached_property
    def _eager(self) -> dict[int, Op]:
        """Eager tensors with an infinity, and an eager op that took each and can make a number of it."""
        tensors = [row.tensor for row in self._known if row.tensor >= 0 and row.nan == 0]
        taken = self._rows.calls(self._process).taken_by_ops(tensors[:_MOST_TENSORS])
        ops = self._program.ops
        return {tensor: ops[number] for tensor, number in taken if number in ops and ops[number].kind in HEAL}

    @cached_property
    def _ran(self) -> set[tuple[int, int]]:
        """(op, execution) of the readers of bad values that ran, for a program may have been stopped before them, and
        did not give bad values themselves."""
        readers = {reader.number for readers in self._readers.values() for reader in readers}
        ran = self._rows.ran(self._process, readers, {row.execution for row in self._known})
        return ran - {(row.op, row.execution) for row in self._known}
