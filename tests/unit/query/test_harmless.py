"""A mask's infinities beside real trouble: which ops' bad values did no harm."""

from __future__ import annotations

from pathlib import Path

from scene_traces import BAD, NUMBERS, add, add_program, new_trace

from tdbg.query.listing.op_health import Healths, together
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.verdict import explain

MASK = [
    {"op": 0, "name": "Const", "type": "Const"},
    {"op": 1, "name": "SelectV2", "type": "SelectV2", "input_ops": [0], "input_slots": [0]},
    {"op": 2, "name": "Softmax", "type": "Softmax", "input_ops": [1], "input_slots": [0]},
]
TROUBLE = [
    {"op": 3, "name": "Log", "type": "Log", "input_ops": [2], "input_slots": [0], "stack": 0},
    {"op": 4, "name": "Neg", "type": "Neg", "input_ops": [3], "input_slots": [0], "stack": 0},
]


def trace_with(folder: Path, ops: list[dict]) -> Path:
    """The mask did no harm; the Log made NaN, which the Neg carried on."""
    writer = new_trace(folder)
    add_program(writer, ops)
    fill = {"flags": BAD | NUMBERS, "neg_inf": 4, "negative": 0, "zero": 0, "positive": 0}
    spoilt = {"flags": BAD | NUMBERS, "nan": 4, "negative": 0, "zero": 0, "positive": 0}
    looks = [fill, fill, {}, spoilt, spoilt]
    add(writer, "tensors", *({"seq": 10 + op["op"], "op": op["op"], **looks[op["op"]]} for op in ops))
    writer.close({"status": 0})
    return folder / "run.tdbg"


def test_what_only_carried_a_mask_did_no_harm_either(tmp_path: Path) -> None:
    said = explain(Trace.open(trace_with(tmp_path, MASK + TROUBLE)))
    assert [origin.op.type for origin in said.origins] == ["Log"]
    assert said.harmless == {0: frozenset({0, 1})}


def test_without_trouble_no_bad_value_did_harm(tmp_path: Path) -> None:
    path = trace_with(tmp_path, MASK)
    said = explain(Trace.open(path))
    assert (said.name, said.harmless) == ("clean", {0: frozenset({0, 1})})


def test_the_first_bad_event_is_one_that_did_harm(tmp_path: Path) -> None:
    read = TraceScene(trace_with(tmp_path, MASK + TROUBLE)).read
    healths = Healths(read, frozenset({0, 1}))
    health = together(healths.of(op) for op in range(5))
    assert (health.bad, health.benign, health.harmful, health.first_bad_seq) == (4, 2, 2, 13)
    assert together([healths.of(0), healths.of(1)]).first_bad_seq == 10
