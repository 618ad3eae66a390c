"""Groups of a small trace by step, run, layer and phase, with and without a filter, against plain Python."""

from __future__ import annotations

from typing import Any

import pytest
from scene_traces import BAD, EVIDENCE, NUMBERS, add, add_program, new_trace

from tdbg.errors import TdbgError
from tdbg.model import Phase
from tdbg.query.listing.groups import Group, Groups
from tdbg.query.listing.op_health import Healths
from tdbg.query.listing.tensor_listing import TensorListings, Wanted
from tdbg.query.scene.trace_scene import TraceScene

FORWARD, BACKWARD = int(Phase.FORWARD), int(Phase.BACKWARD)
OPS = [
    {"op": 0, "name": "model/dense/MatMul", "type": "MatMul"},
    {"op": 1, "name": "model/dense/BiasAdd/ReadVariableOp", "type": "ReadVariableOp"},
    {"op": 2, "name": "model/dense/BiasAdd", "type": "BiasAdd"},
    {"op": 3, "name": "StatefulPartitionedCall/model/Encoder/Tanh_1/Neg", "type": "Neg"},
    {"op": 4, "name": "Log", "type": "Log"},
    {"op": 5, "name": "gradient_tape/model/dense/MatMul/Mul", "type": "Mul", "phase": BACKWARD, "forward": 0},
    {"op": 6, "name": "never/seen/Tanh", "type": "Tanh"},
]
LAYERS = ["model/dense", "model/dense", "model/dense", "model/Encoder", "train.py:2", "model/dense", "never/seen"]


def rows_of_trace() -> list[dict[str, Any]]:
    found = []
    for n in range(120):
        op, bad = n % 6, n >= 90 and n % 6 in (3, 4)
        row = {"seq": n, "step": n // 24, "execution": n // 12, "op": op, "min": -float(n), "max": n / 2}
        row["flags"] = NUMBERS | (BAD if bad else 0) | (EVIDENCE if n % 40 == 7 else 0)
        found.append(row | ({"nan": 1} if bad and op == 4 else {"neg_inf": 2} if bad else {}))
    return found


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> TraceScene:
    folder = tmp_path_factory.mktemp("groups")
    writer = new_trace(folder)
    add_program(writer, OPS)
    add(writer, "tensors", *rows_of_trace())
    writer.close({"status": 0})
    return TraceScene(folder / "run.tdbg")


def grouped(scene: TraceScene, by: str, wanted: Wanted, harmless: frozenset[int] = frozenset()) -> list[Group]:
    found = Groups(scene.read, TensorListings(scene.read), Healths(scene.read, harmless)).find(by, wanted)
    return found.page(0, len(found))


@pytest.mark.parametrize("where", ["", "max > 20"])
@pytest.mark.parametrize(
    ("by", "key"),
    [
        ("step", lambda row: row["step"]),
        ("run", lambda row: row["execution"]),
        ("layer", lambda row: LAYERS[row["op"]]),
        ("phase", lambda row: "backward" if row["op"] == 5 else "forward"),
    ],
)
def test_every_row_is_in_one_group(scene: TraceScene, by: str, key: Any, where: str) -> None:
    rows = [row for row in rows_of_trace() if not row["flags"] & EVIDENCE and (not where or row["max"] > 20)]
    expected = {}
    for row in rows:
        expected.setdefault(key(row), []).append(row)
    found = grouped(scene, by, Wanted(where=where), frozenset({3}))
    assert {group.key for group in found} == set(expected)
    for group in found:
        inside = expected[group.key]
        bad = [row for row in inside if row["flags"] & BAD]
        harmful = [row for row in bad if row["op"] != 3]
        health = group.health
        assert (health.rows, health.bad, health.benign) == (len(inside), len(bad), len(bad) - len(harmful))
        assert health.nan == sum(row.get("nan", 0) for row in inside)
        assert health.inf == sum(row.get("neg_inf", 0) for row in inside)
        assert (health.least, health.greatest) == (min(r["min"] for r in inside), max(r["max"] for r in inside))
        assert health.first_bad_seq == min((row["seq"] for row in harmful or bad), default=-1)


def test_the_order_the_pages_and_the_group_of_an_event(scene: TraceScene) -> None:
    groups = Groups(scene.read, TensorListings(scene.read), Healths(scene.read))
    steps = groups.find("step", Wanted())
    assert [group.label for group in steps.page(1, 2)] == ["step 1", "step 2"]
    assert [group.label for group in steps.page(4, 5)] == ["step 4"]
    assert (steps.place_of(50), steps.place_of(10**6), steps.place_of_key("3")) == (2, None, 3)
    layers = groups.find("layer", Wanted())
    assert list(layers.keys) == ["model/dense", "model/Encoder", "train.py:2"]
    assert layers.place_of(3) == 1
    assert layers.place_of_key("never/seen") is None
    assert list(groups.find("phase", Wanted()).keys) == ["forward", "backward"]
    assert groups.ops_of_layer("model/dense") == (0, 1, 2, 5)
    assert groups.find("step", Wanted(where="max > 1e9")).page(0, 10) == []


def test_a_filter_that_cannot_be_asked(scene: TraceScene) -> None:
    with pytest.raises(TdbgError, match="filter"):
        grouped(scene, "layer", Wanted(where='name ~ "("'))
