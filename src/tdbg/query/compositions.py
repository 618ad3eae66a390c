"""A case of an op that the runtime made of several in; the case of the one among them that made the bad value out.

TensorFlow's Grappler turns a chain such as ``sqrt(log(x))`` into one op. Its input was kept, so the chain is computed
again, op by op.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from tdbg.query.case import Case
from tdbg.query.input_facts import InputFact
from tdbg.query.program import PARTS, Op
from tdbg.query.rerun import in_float64
from tdbg.query.rows import Row
from tdbg.store.plain_files import json_object


def unfold(case: Case) -> Case:
    """The case itself, where the op is no such chain or nothing can be computed."""
    value = case.input_values.get(0) if case.op.type == "_UnaryOpsComposition" else None
    given = case.fact(0)
    if value is None or given is None:
        return case
    maker = given.op
    for op in _parts(case):
        output = in_float64(op.type, [value])
        if output is None:
            return case
        with np.errstate(all="ignore"):
            output = output.astype(value.dtype)
        if not np.isfinite(output).all():
            fact = InputFact(0, _described(given.row, value), maker, case.program.user_frame(maker))
            return _Inner(case, op, fact, value, output)
        value, maker = output, op
    return case


def _attributes(case: Case) -> dict[str, object]:
    try:
        return json_object(case.attributes)
    except ValueError:
        return {}


def _parts(case: Case) -> list[Op]:
    """In the order in which they were computed."""
    ops = {op.name: op for op in case.program.ops.values() if op.graph == case.op.graph}
    names = [name for name, _ in PARTS.findall(str(_attributes(case).get("_stands_for", "")))]
    found = [ops[name] for name in reversed(names) if name in ops]
    return found if len(found) == len(names) else []


def _described(row: Row, value: np.ndarray) -> Row:
    """An evidence row as it would be for another value."""
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
