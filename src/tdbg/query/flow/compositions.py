"""Finds, of the ops that a framework's runtime computes as one, the one that made the bad value.

A chain such as ``sqrt(log(x))`` may become one op. Its input was kept, so the chain is computed again, op by op. A
product, a sum and an activation may become one as well: there the numbers of what went in tell which of them can have
overflowed.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from tdbg.model import DType
from tdbg.query.fixes.rerun import in_float64
from tdbg.query.trace.fused import Fused, fused_in
from tdbg.query.trace.program import Op
from tdbg.query.trace.rows import Row
from tdbg.query.verdict.case import Case
from tdbg.query.verdict.input_facts import InputFact
from tdbg.vocabulary import Kind

_ACTIVATIONS = (  # good inputs give good outputs
    Kind.RELU, Kind.RELU6, Kind.LEAKY_RELU, Kind.ELU, Kind.SELU, Kind.GELU, Kind.TANH, Kind.SIGMOID, Kind.IDENTITY,
)  # fmt: skip
_SUMS = (Kind.ADD_BIAS, Kind.ADD, Kind.SUBTRACT)


def unfold(case: Case) -> Case:
    """Gives the case of that op; the case itself, where the op is what the program wrote, or nothing is known of its
    parts."""
    if case.op.kind == Kind.COMPOSITION:
        return _in_chain(case)
    return _in_fused(case) if case.op.number in case.program.fused else case


def _in_chain(case: Case) -> Case:
    value, given = case.input_values.get(0), case.fact(0)
    if value is None or given is None:
        return case
    maker = given.op
    for op in reversed(_parts(case)):
        output = in_float64(op.kind, [value])
        if output is None:
            return case
        with np.errstate(all="ignore"):
            output = output.astype(value.dtype)
        if not np.isfinite(output).all():
            fact = InputFact(0, _described(given.row, value), maker, case.program.user_frame(maker))
            return _Inner(case, op, fact, value, output)
        value, maker = output, op
    return case


def _in_fused(case: Case) -> Case:
    """Takes the innermost op (a product, a normalisation), unless its inputs are too small for it to be bad: then the
    sum behind it."""
    if _fused(case).is_constant(case.op.framework):
        return case
    parts = [op for op in _parts(case) if op.kind not in _ACTIVATIONS]
    sums = [op for op in parts if op.kind in _SUMS]
    inner = next((op for op in reversed(parts) if op.kind not in _SUMS), None)
    if inner is None:
        return case
    found = _Part(case, inner)
    return _Part(case, sums[0]) if sums and found.is_certainly_finite else found


def _fused(case: Case) -> Fused:
    return fused_in(case.attributes)


def _parts(case: Case) -> list[Op]:
    """Finds the parts, the one that was computed last first; none when one of them is not known."""
    ops = {op.name: op for op in case.program.ops.values() if op.graph == case.op.graph}
    names = [part.name for part in _fused(case).parts]
    found = [ops[name] for name in names if name in ops]
    return found if len(found) == len(names) else []


def _described(row: Row, value: np.ndarray) -> Row:
    """Makes an evidence row as it would be for another value."""
    wide = value.astype(np.float64)
    return replace(
        row,
        negative=int((wide < 0).sum()),
        zero=int((wide == 0).sum()),
        positive=int((wide > 0).sum()),
        min=float(wide.min()),
        max=float(wide.max()),
        mean=float(wide.mean()),
        std=float(wide.std()),
    )


class _Inner(Case):
    """One op of the chain."""

    def __init__(self, case: Case, op: Op, fact: InputFact, value: np.ndarray, output: np.ndarray) -> None:
        super().__init__(case._trace, case._rows, case.program, case._process, case.row)
        self._place(op)
        self.inputs = [fact]
        self.input_values = {0: value}
        self.output_value = output


class _Part(Case):
    """One op of a fused one: with its own inputs, as far as they came from outside, and the output of the whole."""

    def __init__(self, case: Case, op: Op) -> None:
        super().__init__(case._trace, case._rows, case.program, case._process, case.row)
        self._whole = case
        self._place(op)

    @cached_property
    def inputs(self) -> list[InputFact]:
        apart = Case(self._trace, self._rows, self.program, self._process, replace(self.row, op=self.op.number))
        kept = self._kept
        inside = {at for at, (number, _) in enumerate(self.op.inputs) if number in self.program.wholes}
        return [replace(fact, row=kept.get(fact.index, fact.row)) for fact in apart.inputs if fact.index not in inside]

    @property
    def _kept(self) -> dict[int, Row]:
        """What was kept beside the output of the whole, by the number of this op's input."""
        found = self._whole._evidence
        given = _fused(self._whole).given_to.items()
        return {at: found[number] for (name, at), number in given if number in found and name == self.op.name}

    @property
    def is_certainly_finite(self) -> bool:
        """Whether a product of these inputs cannot overflow: each sum has at most as many terms as an input has
        elements."""
        rows = [fact.row for fact in self.inputs]
        if len(rows) < 2 or any(row.min is None or row.max is None or row.is_bad for row in rows):
            return False
        largest = [max(abs(row.min), abs(row.max)) for row in rows[:2]]  # type: ignore[arg-type]
        terms = min(row.elements for row in rows[:2])
        limit = _LARGEST.get(DType(self.row.dtype))
        return limit is not None and largest[0] * largest[1] * max(terms, 1) < limit


_LARGEST = {DType.FLOAT16: 65504.0, DType.FLOAT32: 3.4e38, DType.BFLOAT16: 3.38e38, DType.FLOAT64: 1.79e308}
