"""Gradients by layer: a scaled loss that overflowed did no harm, so its infinities are not counted."""

from __future__ import annotations

from pathlib import Path

from scene_traces import BAD, NUMBERS, add, add_program, new_trace

from tdbg.model import Phase
from tdbg.query.over_time.curves import Curves
from tdbg.query.trace.trace import Trace


def test_what_did_no_harm_is_not_counted(tmp_path: Path) -> None:
    writer = new_trace(tmp_path)
    backward = int(Phase.BACKWARD)
    ops = [{"op": 0, "name": "model/dense/MatMul", "type": "MatMul"}]
    ops += [
        {"op": n, "name": f"gradient_tape/model/dense/MatMul_{n}", "type": "MatMul", "phase": backward, "forward": 0}
        for n in (1, 2)
    ]
    add_program(writer, ops)
    bad = {"flags": BAD | NUMBERS, "pos_inf": 3, "positive": 0, "elements": 4}
    rows = [{"seq": 3 * step + op, "step": step, "op": op} for step in range(2) for op in range(3)]
    rows[4] |= bad
    rows[5] |= bad
    add(writer, "tensors", *rows)
    writer.close({"status": 0})
    trace = Trace.open(tmp_path / "run.tdbg")
    found = {}
    for harmless in ((), (1,), (1, 2)):
        (curve,) = Curves(trace, 0, harmless=frozenset(harmless)).gradient_by_layer()
        assert curve.name == "model/dense"
        found[harmless] = [point.bad for point in curve.points]
    assert found == {(): [0, 6], (1,): [0, 3], (1, 2): [0, 0]}
