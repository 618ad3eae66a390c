"""How much is recorded: modes, filters, ranges of steps, the ring, and values kept when something goes wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import Recorded, record

from tdbg.model import DType, Flag
from tdbg.native import reference
from tdbg.query.verdict.verdict import explain

tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


@tf.function
def in_graph(x):
    return tf.reduce_sum(tf.math.log(x)) + tf.reduce_max(x)


def train(steps: int, weights: Any = None) -> None:
    weights = tf.Variable([1.0, 2.0]) if weights is None else weights
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.exp(weights))
        weights.assign_sub(0.01 * tape.gradient(loss, weights))


# ---- modes


def both(folder: Path, given: Any, **options: Any) -> dict[str, Recorded]:
    """The same computation eagerly and as a graph."""
    runs = {}
    for name, function in {"graph": in_graph, "eager": in_graph.python_function}.items():
        with record(folder, name, **options) as runs[name]:
            function(tf.constant(given))
    return runs


def test_mode_none_keeps_the_program_and_no_tensor(tmp_path: Path) -> None:
    for run in both(tmp_path, [1.0, 2.0], mode="none").values():
        assert run.tensors == []
        assert "Log" in run.op_types()
        assert run.table("executions")


def test_mode_health_tells_bad_from_good(tmp_path: Path) -> None:
    for run in both(tmp_path, [1.0, 0.0], mode="health").values():
        (row,) = run.rows("Log")
        assert row["flags"] & Flag.BAD
        assert not row["flags"] & Flag.NUMBERS
        assert row["nan"] is None
        assert row["max"] is None
        assert (row["dims"], row["elements"]) == ((2,), 2)
    (row,) = both(tmp_path / "good", [1.0, 2.0], mode="health")["graph"].rows("Log")
    assert not row["flags"] & Flag.BAD


def test_mode_numerics_has_all_numbers(tmp_path: Path) -> None:
    for run in both(tmp_path, [1.0, 0.0], mode="numerics").values():
        (row,) = run.rows("Log")
        assert row["flags"] & Flag.NUMBERS
        assert (row["neg_inf"], row["zero"], row["max"]) == (1, 1, 0.0)


def test_mode_shape_does_not_look_at_values(tmp_path: Path) -> None:
    for run in both(tmp_path, [1.0, 0.0], mode="shape").values():
        (row,) = run.rows("Log")
        assert (row["dims"], row["dtype"], row["elements"]) == ((2,), DType.FLOAT32, 2)
        assert not row["flags"] & (Flag.BAD | Flag.NUMBERS)
        assert row["max"] is None
        assert run.table("values") == []


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "float64", "complex64"])
def test_mode_full_gives_back_every_array(tmp_path: Path, dtype: str) -> None:
    given = tf.cast(np.random.default_rng(1).normal(size=(5, 7)), dtype)

    @tf.function
    def compute(x):
        y = tf.exp(x)
        return y, y * x

    for name, function in {"graph": compute, "eager": compute.python_function}.items():
        with record(tmp_path, name, mode="full") as run:
            exponential, product = function(given)
        for op_type, expected in (("Exp", exponential), ("Mul", product)):
            (row,) = run.rows(op_type)
            kept = run.trace.value(0, row["value"])
            assert kept.dtype == expected.numpy().dtype
            assert kept.shape == (5, 7)
            assert kept.tobytes() == expected.numpy().tobytes()
            assert row["mean"] == pytest.approx(reference.summarize(kept).mean, rel=1e-5, abs=1e-7)


def test_mode_full_stores_equal_arrays_once(tmp_path: Path) -> None:
    with record(tmp_path, mode="full") as run:
        for _ in range(4):
            tf.exp(tf.constant([1.0, 2.0, 3.0]))
    values = [row["value"] for row in run.rows("Exp")]
    assert len(values) == 4
    assert len(set(values)) == 1


# ---- filters


def program(x: Any) -> Any:
    with tf.name_scope("encoder"):
        hidden = tf.sin(x)
    with tf.name_scope("decoder"):
        return tf.cos(hidden) + tf.cast(tf.cast(hidden, tf.float16), tf.float32)


EVERYTHING = {"Sin", "Cos", "Cast", "AddV2"}
FILTERS = {
    "ops": ({"ops": "^(Sin|Cos)$"}, {"Sin", "Cos"}, {"Sin", "Cos"}),
    "names": ({"names": "encoder/"}, {"Sin"}, set()),
    "dtypes": ({"dtypes": "float16"}, {"Cast"}, {"Cast"}),
    "two": ({"ops": "Cast", "dtypes": "float32"}, {"Cast"}, {"Cast"}),
    "none left": ({"ops": "Sin", "names": "decoder"}, set(), set()),
    "this file": ({"files": r"test_modes_and_filters\.py$"}, EVERYTHING, EVERYTHING),
    "another file": ({"files": "elsewhere"}, set(), set()),
}  # fmt: skip


@pytest.mark.parametrize(("options", "in_graphs", "in_eager"), FILTERS.values(), ids=FILTERS)
def test_filters(tmp_path: Path, options: dict[str, str], in_graphs: set[str], in_eager: set[str]) -> None:
    function = tf.function(program)
    for name, call, expected in (("graph", function, in_graphs), ("eager", program, in_eager)):
        with record(tmp_path, name, **options) as run:
            plain = call(tf.constant([0.5]))
        assert float(plain[0]) == pytest.approx(np.cos(np.sin(0.5)) + np.sin(0.5), rel=1e-3)
        seen = {row["of"]["type"] for row in run.tensors} - {"Placeholder", "Const"}
        assert seen == expected
        if "dtypes" in options:
            assert {DType(row["dtype"]).label for row in run.tensors} == {options["dtypes"]}
        assert run.op_types() >= EVERYTHING  # the program itself is always whole


def test_a_verdict_says_that_it_saw_only_a_part(tmp_path: Path) -> None:
    with record(tmp_path, ops="Sin") as run:
        program(tf.constant([0.5]))
    assert any("ops Sin" in note for note in explain(run.trace).coverage.notes)


def test_integers_are_recorded_when_asked_for(tmp_path: Path) -> None:
    counted = tf.function(lambda x: x * 3)
    for options, expected in (({}, 0), ({"dtypes": "int32"}, 1)):
        with record(tmp_path, f"run{expected}", **options) as run:
            counted(tf.constant([1, 2]))
        assert len(run.rows("Mul")) == expected


# ---- steps


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"steps": "2:4"}, [2, 3]),
        ({"steps": "3"}, [3]),
        ({"steps": "4:"}, [4, 5]),
        ({"steps": ":2"}, [0, 1]),
        ({"every": 2}, [0, 2, 4]),
        ({"steps": "1:", "every": 3}, [1, 4]),
    ],
    ids=str,
)
@pytest.mark.parametrize("as_graph", [False, True], ids=["eager", "graph"])
def test_steps_that_were_asked_for(tmp_path: Path, options: Any, expected: list[int], as_graph: bool) -> None:
    weights = tf.Variable([1.0, 2.0])
    one_step = tf.function(lambda: train(1, weights)) if as_graph else lambda: train(1, weights)
    with record(tmp_path, **options) as run:
        for _ in range(6):
            one_step()
    rows = run.rows("Exp")
    assert [row["step"] for row in rows] == expected
    assert sorted(set(run.steps)) == [0, 1, 2, 3, 4, 5]
    assert {row["step"] for row in run.tensors if row["execution"] >= 0} == set(expected)


# ---- ring


def test_a_ring_keeps_the_last_events(tmp_path: Path) -> None:
    with record(tmp_path, ring=64) as run:
        x = tf.constant(0.0)
        for _ in range(200):
            x = x + 1.0
    events = len(run.tensors) + len(run.table("executions"))
    assert events == 64
    kept = [row["max"] for row in run.rows("AddV2")]
    assert kept == [float(n) for n in range(201 - len(kept), 201)]
    assert any("last 64 events" in note for note in explain(run.trace).coverage.notes)


def test_a_ring_that_was_never_full(tmp_path: Path) -> None:
    with record(tmp_path, ring=512) as run:
        x = tf.constant(0.0)
        for _ in range(20):
            x = x + 1.0
    assert [row["max"] for row in run.rows("AddV2")] == [float(n) for n in range(1, 21)]


# ---- values that are kept when something goes wrong


def divided(x: Any, y: Any) -> Any:
    return tf.exp(x) / (y * 2.0)


@pytest.mark.parametrize("function", [divided, tf.function(divided)], ids=["eager", "graph"])
def test_the_origin_and_its_inputs_are_kept_whole(tmp_path: Path, function: Any) -> None:
    x, y = tf.constant([1.0, 2.0]), tf.constant([3.0, 0.0])
    with record(tmp_path) as run:
        function(x, y + 1.0)
        result = function(x, y)
        tf.sqrt(result)
    (origin,) = [row for row in run.tensors if row["flags"] & Flag.ORIGIN]
    assert origin["of"]["type"] == "RealDiv"
    assert np.array_equal(run.trace.value(0, origin["value"]), result.numpy())
    evidence = {row["slot"]: row for row in run.tensors if row["flags"] & Flag.EVIDENCE}
    assert set(evidence) == {0, 1}
    assert np.array_equal(run.trace.value(0, evidence[0]["value"]), tf.exp(x).numpy())
    assert np.array_equal(run.trace.value(0, evidence[1]["value"]), [6.0, 0.0])
    assert evidence[1]["zero"] == 1
    assert {row["op"] for row in evidence.values()} == {origin["op"]}
    kept = [row for row in run.tensors if row["value"] >= 0]
    assert len(kept) == 3


@pytest.mark.parametrize("function", [divided, tf.function(divided)], ids=["eager", "graph"])
def test_nothing_is_kept_while_all_is_well(tmp_path: Path, function: Any) -> None:
    with record(tmp_path) as run:
        function(tf.constant([1.0, 2.0]), tf.constant([3.0, 1.0]))
    assert run.table("values") == []
    assert not [row for row in run.tensors if row["flags"] & (Flag.EVIDENCE | Flag.ORIGIN | Flag.BAD)]


@pytest.mark.parametrize("function", [divided, tf.function(divided)], ids=["eager", "graph"])
def test_values_can_be_switched_off(tmp_path: Path, function: Any) -> None:
    with record(tmp_path, values_when_bad=False) as run:
        function(tf.constant([1.0, 2.0]), tf.constant([3.0, 0.0]))
    assert run.table("values") == []
    assert [row["of"]["type"] for row in run.tensors if row["flags"] & Flag.ORIGIN] == ["RealDiv"]


def test_a_value_that_repeats_is_kept_a_few_times_only(tmp_path: Path) -> None:
    function = tf.function(divided)
    with record(tmp_path) as run:
        for n in range(10):
            function(tf.constant([1.0, float(n)]), tf.constant([3.0, 0.0]))
    origins = [row for row in run.tensors if row["flags"] & Flag.ORIGIN]
    assert len(origins) == 10
    assert sum(row["value"] >= 0 for row in origins) == 2
