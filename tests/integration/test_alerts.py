"""Small programs are recorded: which alerts there are, which argument and line they name, and when there are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import Recorded, line_with, record

from tdbg.commands.info import collect

tf = pytest.importorskip("tensorflow")


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


def alerts(run: Recorded, kind: str | None = None) -> list[dict[str, Any]]:
    return [row for row in run.trace.alerts().to_pylist() if kind in (None, row["kind"])]


def training_step() -> Any:
    weights = tf.Variable(tf.ones([4, 1]))

    @tf.function  # train_step
    def train_step(x, power=1):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights) ** power)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        return loss

    return train_step


def test_a_clean_program_has_none(tmp_path: Path) -> None:
    train_step = training_step()
    train_step(tf.ones([8, 4]))  # traced before: tracing it again is tdbg's doing
    with record(tmp_path) as run:
        for _ in range(4):
            train_step(tf.ones([8, 4]))
    assert run.steps == [0, 1, 2, 3]
    assert alerts(run) == []
    assert collect(run.trace)["alerts"] == {"bad_values": 0, "retrace": 0, "shape_change": 0}


def test_another_batch_size_is_a_retrace(tmp_path: Path) -> None:
    train_step = training_step()
    with record(tmp_path) as run:
        for batch in (8, 8, 3, 8, 3):
            train_step(tf.ones([batch, 4]))  # the call
    (alert,) = alerts(run)
    where = f"{Path(__file__).name}:{line_with(__file__, 'train_step')}"
    assert alert["kind"] == "retrace"
    assert "train_step (" in alert["text"] and where in alert["text"]
    assert "was traced again (2nd time): argument x changed from float32[8,4] to float32[3,4]" in alert["text"]
    assert (alert["file"], alert["line"]) == (__file__, line_with(__file__, "the call"))
    assert (alert["process"], alert["step"]) == (0, 2)
    call = run.call(alert["execution"])
    assert (call["graph"], call["seq"], call["step"]) == (alert["graph"], alert["seq"], 2)


def test_a_python_value_is_a_retrace(tmp_path: Path) -> None:
    train_step = training_step()
    with record(tmp_path) as run:
        for power in (1, 2, 2, 3):
            train_step(tf.ones([8, 4]), power)
    texts = [alert["text"].partition("was traced again ")[2] for alert in alerts(run)]
    assert texts == [
        "(2nd time): python value power changed from 1 to 2; pass a tensor",
        "(3rd time): python value power changed from 2 to 3; pass a tensor",
    ]


def test_parts_of_structures_are_named(tmp_path: Path) -> None:
    @tf.function
    def total(batch):
        return batch["x"][0] + tf.cast(batch["y"], tf.float32)

    with record(tmp_path) as run:
        total({"x": (tf.constant(1.0), tf.constant(2.0)), "y": tf.constant(1)})
        total({"x": (tf.constant(1.0), tf.constant(2.0)), "y": tf.constant(1.0)})
    (alert,) = alerts(run)
    assert "argument batch['y'] changed from int32[] to float32[]" in alert["text"]


def test_what_tensorflow_traces_by_itself_is_no_retrace(tmp_path: Path) -> None:
    made: list[Any] = []

    @tf.function
    def with_variable(x):
        if not made:
            made.append(tf.Variable(2.0))
        return x * made[0]

    @tf.function
    def inner(x):
        return tf.reduce_sum(x * x)

    @tf.function
    def outer(x):  # calls the same function with two shapes
        return inner(x) + inner(x[1:])

    with record(tmp_path) as run:
        with_variable(tf.constant(1.0))
        with_variable(tf.constant(2.0))
        x = tf.constant([1.0, 2.0, 3.0])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = outer(x)
        tape.gradient(y, x)
        outer(x)
    assert len([row for row in run.table("functions") if row["python"].endswith("with_variable")]) >= 2
    assert alerts(run) == []


def test_two_functions_of_one_code_are_two(tmp_path: Path) -> None:
    def double(x):
        return x * 2.0

    with record(tmp_path) as run:
        tf.function(double)(tf.constant(1.0))
        tf.function(double)(tf.constant([1.0]))
    assert len({row["instance"] for row in run.table("functions")}) == 2
    assert alerts(run) == []


def test_a_smaller_batch_is_one_shape_change(tmp_path: Path) -> None:
    @tf.function(input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([None])])
    def loss(x, y):
        return tf.reduce_sum(tf.reduce_sum(x * 2.0, 1) * y)

    with record(tmp_path) as run:
        for batch in (8, 8, 3, 8):
            loss(tf.ones([batch, 4]), tf.ones([batch]))
    (alert,) = alerts(run)
    assert alert["kind"] == "shape_change"
    assert "the shape of argument x changed from [8,4] to [3,4] (dimension 0)" in alert["text"]
    assert "the shape of argument y changed from [8] to [3] (dimension 0)" in alert["text"]
    third = sorted({row["execution"] for row in run.rows("Mul")})[2]
    assert alert["execution"] == third
    assert run.ops[alert["op"]]["name"] == "x"


def test_a_shape_that_changes_inside_is_one_alert_with_its_line(tmp_path: Path) -> None:
    @tf.function
    def positive(x):
        kept = tf.boolean_mask(x, x > 0.0)  # the mask
        return tf.reduce_sum(tf.exp(kept) * 2.0)

    with record(tmp_path) as run:
        positive(tf.constant([1.0, 2.0, -1.0]))
        positive(tf.constant([1.0, -2.0, -1.0]))
    (alert,) = alerts(run)
    assert "changed from [2] to [1]" in alert["text"]
    assert (alert["file"], alert["line"]) == (__file__, line_with(__file__, "the mask"))


def test_shapes_that_change_inside_a_loop_are_none(tmp_path: Path) -> None:
    @tf.function
    def grown(x):
        return tf.while_loop(
            lambda y: tf.size(y) < 6, lambda y: (tf.concat([y, y * 2.0], 0),), [x], [tf.TensorShape([None])]
        )

    with record(tmp_path) as run:
        for _ in range(2):
            grown(tf.constant([1.0]))
    assert len({row["dims"] for row in run.rows("Mul")}) == 3
    assert alerts(run) == []


@pytest.mark.parametrize(("rows", "expected"), [(48, []), (40, ["shape_change"])])
def test_keras(tmp_path: Path, rows: int, expected: list[str]) -> None:
    keras = pytest.importorskip("keras")
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2, activation="relu"), keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    data = np.ones([rows, 3], np.float32), np.ones([rows, 1], np.float32)
    with record(tmp_path) as run:
        model.fit(*data, batch_size=16, epochs=2, verbose=0)
    assert [alert["kind"] for alert in alerts(run)] == expected


def test_bad_values_are_one_alert_per_output(tmp_path: Path) -> None:
    @tf.function
    def loss(x):
        return tf.reduce_sum(tf.math.log(x)) * 0.0  # the log

    with record(tmp_path) as run:
        for number in range(5):
            loss(tf.constant([1.0, float(number % 2)]))
    found = alerts(run, "bad_values")
    assert [run.ops[alert["op"]]["type"] for alert in found] == ["Log", "Sum", "Mul"]
    assert found == alerts(run)
    assert found[0]["text"] == "Log held -inf ×3: 3 times, from step 0 on"
    (first, *_) = run.rows("Log")
    assert (found[0]["seq"], found[0]["execution"], found[0]["time"]) == (
        first["seq"],
        first["execution"],
        first["time"],
    )
    assert (found[0]["file"], found[0]["line"]) == (__file__, line_with(__file__, "the log"))
    counted = run.trace.connect().execute("SELECT kind, count(*) FROM alerts GROUP BY kind").fetchall()
    assert counted == [("bad_values", 3)]
