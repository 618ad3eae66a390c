"""Mode edges: functions stay exactly as TensorFlow makes them, and what goes in and comes out tells where it began."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import line_with, record

import tdbg
from tdbg.query.verdict.text import full_lines, short_lines
from tdbg.query.verdict.verdict import explain

tf = pytest.importorskip("tensorflow")

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


# ---- the same bits

TRAINS = """
import json, sys
import numpy as np
import tensorflow as tf
import tdbg
from transformer import batch, make_step

tf.config.threading.set_inter_op_parallelism_threads(1)
tf.config.threading.set_intra_op_parallelism_threads(1)

def transformer():
    tf.keras.utils.set_random_seed(3)
    step = make_step(32)
    return [float(step(*batch(n))).hex() for n in range(4)]

def fit(jit):
    tf.keras.utils.set_random_seed(1)
    layers = [tf.keras.layers.Dense(16, "gelu"), tf.keras.layers.BatchNormalization(), tf.keras.layers.Dropout(0.2),
              tf.keras.layers.Dense(1)]
    model = tf.keras.Sequential(layers)
    model.compile("adam", "mse", jit_compile=jit)
    inputs = np.random.default_rng(0).normal(size=(64, 8)).astype(np.float32)
    history = model.fit(inputs, np.tanh(inputs[:, :1]), batch_size=16, epochs=3, verbose=0)
    return [loss.hex() for loss in history.history["loss"]]

def all_of_them():
    return {"transformer": transformer(), "fit": fit(False), "compiled fit": fit(True)}

if sys.argv[1] != "plain":
    tdbg.enable("run.tdbg", mode=sys.argv[1])
losses = all_of_them()
tdbg.disable()
print(json.dumps(losses))
"""


def losses_of(folder: Path, mode: str) -> dict[str, list[str]]:
    source = os.pathsep.join([str(Path(tdbg.__file__).parents[1]), str(ROOT / "benchmarks")])
    environment = os.environ | {"TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1", "PYTHONPATH": source}
    words = [sys.executable, "-c", TRAINS, mode]
    ran = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout.splitlines()[-1])


def test_losses_are_the_same_to_the_last_bit(tmp_path: Path) -> None:
    assert losses_of(tmp_path, "edges") == losses_of(tmp_path, "plain")
    steps = tdbg.open(tmp_path / "run.tdbg").table("tensors", ["step"])["step"].to_pylist()
    assert len(set(steps)) == 4 + 2 * 12


def graph_ops(function: Any) -> list[str]:
    return [op.type for op in function.get_concrete_function(tf.TensorSpec([2])).graph.get_operations()]


def test_nothing_is_put_into_graphs(tmp_path: Path) -> None:
    body = tf.function(lambda x: tf.math.log(x) / tf.reduce_sum(x))
    plain = graph_ops(body)
    with record(tmp_path, mode="edges"):
        assert graph_ops(body) == plain


# ---- where it began


def only_origin(trace: Any) -> Any:
    verdict = explain(trace)
    assert len(verdict.origins) == 1, full_lines(verdict)
    return verdict, verdict.origins[0]


@pytest.mark.parametrize("compiled", [False, True])
def test_a_nan_inside_a_function_is_told_by_function_and_step(tmp_path: Path, compiled: bool) -> None:
    weights = tf.Variable([1.0, 2.0], name="scale")

    @tf.function(jit_compile=compiled)
    def train_step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.sqrt(weights * x))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    with record(tmp_path, mode="edges") as run:
        for number in range(5):
            train_step(tf.constant([1.0, 2.0 if number < 3 else -1.0]))  # the call

    verdict, origin = only_origin(run.trace)
    assert (origin.kind, origin.what, origin.row.step, origin.cause.name) == ("forward", "train_step", 3, "unknown")
    assert (origin.frame.file, origin.frame.line) == (__file__, line_with(__file__, "the call"))
    assert origin.cause.reason.startswith("began inside `train_step`; record with --mode numerics")
    assert any("began inside `train_step`" in line for line in short_lines(verdict))
    assert [fact.op.type for fact in origin.inputs][1:] == ["ReadVariableOp"]
    assert not run.rows("Sqrt")
    assert any("mode edges" in note for note in verdict.coverage.notes)


def test_a_variable_that_goes_bad_alone_is_an_update(tmp_path: Path) -> None:
    total = tf.Variable(1.0, name="total")

    @tf.function
    def add(x):
        total.assign(total / x)
        return x

    with record(tmp_path, mode="edges") as run:
        add(tf.constant(2.0))
        add(tf.constant(0.0))  # the division
        add(tf.constant(1.0))
        add(tf.constant(0.0))

    _, origin = only_origin(run.trace)
    assert (origin.kind, origin.what) == ("update", "variable total")
    assert origin.frame.line == line_with(__file__, "the division")
    assert "variable total went bad in this call" in origin.cause.evidence


def test_a_variable_that_begins_with_infinity_is_no_trouble(tmp_path: Path) -> None:
    best, count = tf.Variable(float("inf"), name="best"), tf.Variable(0.0, name="count")

    @tf.function
    def keep_best(x):
        count.assign_add(1.0)
        if x > 0.0:
            best.assign(tf.minimum(best, x))
        return x

    with record(tmp_path, mode="edges") as run:
        for x in (-1.0, -2.0, 3.0):
            keep_best(tf.constant(x))
    verdict = explain(run.trace)
    assert not verdict.is_trouble, full_lines(verdict)


def test_a_bad_value_made_before_the_call_is_not_the_function_s(tmp_path: Path) -> None:
    double = tf.function(lambda x: 2.0 * x)
    with record(tmp_path, mode="edges") as run:
        double(tf.math.log(tf.constant([-1.0])))  # the log
    _, origin = only_origin(run.trace)
    assert (origin.what, origin.cause.name) == ("Log", "log_of_negative")
    assert origin.frame.line == line_with(__file__, "the log")


def test_a_gradient_that_goes_bad_is_told_by_its_line(tmp_path: Path) -> None:
    root = tf.function(lambda x: tf.sqrt(x))
    x = tf.Variable([0.0, 1.0])
    with record(tmp_path, mode="edges") as run:
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(root(x))
        tape.gradient(loss, x)
    _, origin = only_origin(run.trace)
    assert origin.kind == "backward"
    assert origin.frame.file == __file__


def test_keras_fit_is_told_by_its_line(tmp_path: Path) -> None:
    model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Lambda(tf.math.log)])
    model.compile("sgd", "mse")
    inputs = np.random.default_rng(0).normal(size=(32, 4)).astype(np.float32)
    with record(tmp_path, mode="edges") as run:
        model.fit(inputs, inputs, batch_size=8, verbose=0)  # the fit
    _, origin = only_origin(run.trace)
    assert origin.frame.line == line_with(__file__, "the fit")
    assert "began inside `" in origin.cause.reason


def test_filters_hold_for_functions_too(tmp_path: Path) -> None:
    weights = tf.Variable([1.0])
    scale = tf.function(lambda x: weights * x)
    with record(tmp_path, mode="edges", files="nowhere") as run:
        scale(tf.constant([1.0]))
    assert not run.table("tensors")
    assert len(run.table("executions")) == 1
