"""One program runs plain, under the compiled extension and under its stand-in: results and rows are the same."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tdbg
from tdbg import native
from tdbg.model import Flag

# Every tensor here is used for something and depends on a variable: of the others TensorFlow's optimizer may compute
# some once and leave some out, as it sees fit.
PROGRAM = """
import json, os, sys
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import numpy as np
import tensorflow as tf
import tdbg

tf.keras.utils.set_random_seed(1)
weights = tf.Variable([0.5, 1.0, 1.5])
half = tf.Variable(tf.cast([0.5, 1.0, 1.5], tf.bfloat16))

def eager(steps):
    for step in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.math.log(weights - 0.5 * step))
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
    return weights.numpy().tolist()

@tf.function
def loop(given):
    with tf.GradientTape() as tape:
        value = weights
        for _ in tf.range(3):
            value = tf.sin(value) * weights
    gradient = tape.gradient(value, weights, output_gradients=given * weights)
    weights.assign_sub(0.1 * gradient)
    return value

@tf.function
def narrow(given):
    return tf.cond(tf.reduce_any(half > 9), lambda: half + given, lambda: tf.exp(half * given))

@tf.function
def poles():
    return 1.0 / (weights - weights)

@tf.function
def differentiated(given):
    return tf.while_loop(lambda n, x: n < 2, lambda n, x: (n + 1, tf.tanh(x) * weights), [0, given * weights])[1]

def outer_tape():
    with tf.GradientTape() as tape:
        result = differentiated(weights + 1.0)
    return tape.gradient(result, weights).numpy().tolist()

def fit():
    model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse", jit_compile=False)
    inputs = np.linspace(0, 1, 32).reshape(16, 2).astype("float32")
    return model.fit(inputs, inputs.sum(1), batch_size=8, epochs=2, verbose=0, shuffle=False).history["loss"]

if sys.argv[1:]:
    tdbg.enable(sys.argv[1])
results = [loop(weights + n).numpy().tolist() for n in range(2)] + [outer_tape(), poles().numpy().tolist()]
results += [tf.cast(narrow(half * 2), tf.float32).numpy().tolist(), eager(2), fit()]
traced = loop.get_concrete_function(tf.TensorSpec([3]))
tdbg.disable()
results += [traced(tf.constant([1.0, 2.0, 3.0])).numpy().tolist(), loop(tf.constant([1.0, 2.0, 3.0])).numpy().tolist()]
print(json.dumps(results))
"""

IMPLEMENTATIONS = {"native": "1", "python": "0"}


class Runs:
    """The program's results, and what was recorded, under each implementation."""

    def __init__(self, folder: Path) -> None:
        script = folder / "train.py"
        script.write_text(PROGRAM)
        self.plain = self._run(script, "0")
        self.results = {name: self._run(script, use, folder / f"{name}.tdbg") for name, use in IMPLEMENTATIONS.items()}
        self.traces = {name: tdbg.open(folder / f"{name}.tdbg") for name in IMPLEMENTATIONS}

    def _run(self, script: Path, use: str, *trace: Path) -> list[Any]:
        source = str(Path(tdbg.__file__).parents[1])
        environment = os.environ | {"PYTHONPATH": source, "TDBG_NATIVE": use, "TDBG_STRICT": "1"}
        done = subprocess.run(
            [sys.executable, str(script), *map(str, trace)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def both(self, read: Callable[[Any], Any]) -> tuple[Any, Any]:
        return read(self.traces["native"]), read(self.traces["python"])


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Runs:
    if not native.AVAILABLE:
        pytest.skip("there is no compiled extension to compare with")
    return Runs(tmp_path_factory.mktemp("fallback"))


def rows(trace: Any, table: str, *left_out: str) -> list[dict[str, Any]]:
    return trace.table(table).drop_columns(["process", *left_out]).to_pylist()


def tensors(trace: Any) -> list[tuple[tuple, tuple[float, float]]]:
    """What identifies each row and must be the same, and its mean and std, in an order that threads do not change."""
    dims = {row["shape"]: tuple(row["dims"]) for row in trace.table("shapes").to_pylist()}
    found = []
    for row in rows(trace, "tensors", "seq", "time", "thread", "tensor"):
        row |= {"shape": dims[row["shape"]], "value": row["value"] >= 0, "min": str(row["min"]), "max": str(row["max"])}
        if row["execution"] < 0:  # a dataset runs ahead, in a thread of its own
            del row["step"]
        statistics = row.pop("mean"), row.pop("std")
        found.append((tuple(row.items()), statistics))
    return sorted(found, key=lambda row: str(row))


def test_results_are_those_of_the_plain_program(runs: Runs) -> None:
    for results in runs.results.values():
        for mine, plain in zip(results, runs.plain, strict=True):
            assert mine == pytest.approx(plain, rel=1e-5, nan_ok=True)
    assert str(runs.results["python"]) == str(runs.results["native"])


def test_every_tensor_is_recorded_the_same(runs: Runs) -> None:
    mine, theirs = runs.both(tensors)
    assert [row for row, _ in mine] == [row for row, _ in theirs]
    for (_, mine_statistics), (_, their_statistics) in zip(mine, theirs, strict=True):
        assert mine_statistics == pytest.approx(their_statistics, nan_ok=True)


def test_what_matters_is_in_the_rows(runs: Runs) -> None:
    for trace in runs.traces.values():
        types = {row["op"]: row["type"] for row in trace.table("ops").to_pylist()}
        found = trace.table("tensors").to_pylist()
        assert {row["iteration"] for row in found if types[row["op"]] == "Sin"} == {0, 1, 2}
        origins = [types[row["op"]] for row in found if row["flags"] & Flag.ORIGIN]
        evidence = [types[row["op"]] for row in found if row["flags"] & Flag.EVIDENCE]
        assert {"RealDiv", "Log"} <= set(origins)
        assert {"RealDiv", "Log"} <= set(evidence)
        assert max(row["step"] for row in found) > 4
        assert trace.problems == []


@pytest.mark.parametrize(
    ("table", "left_out"),
    [
        ("executions", ("seq", "time", "thread", "inputs")),
        ("graphs", ("time", "name", "function")),
        ("steps", ("seq", "time")),
        ("stacks", ()),
        ("frames", ()),
    ],
)
def test_the_rest_is_the_same_too(runs: Runs, table: str, left_out: tuple[str, ...]) -> None:
    mine, theirs = runs.both(lambda trace: rows(trace, table, *left_out))
    assert mine == theirs


def test_ops_are_those_of_the_users_program(runs: Runs) -> None:
    def without_counts(trace: Any) -> list[dict[str, Any]]:
        """TensorFlow counts its functions and variables, and the observers' ops with them."""
        ops = rows(trace, "ops", "attributes")
        return [row | {name: re.sub(r"\d+", "", row[name]) for name in ("name", "type")} for row in ops]

    mine, theirs = runs.both(without_counts)
    assert mine == theirs
    assert not {"PyFunc", "PyFuncStateless", "TdbgObserve", "TdbgWatch"} & {row["type"] for row in mine}


def test_control_edges_are_those_of_the_users_program(runs: Runs) -> None:
    mine, theirs = runs.both(lambda trace: sorted((row["op"], row["input_op"]) for row in rows(trace, "controls")))
    assert mine == theirs


def test_the_trace_says_that_the_extension_was_missing(runs: Runs) -> None:
    notes = runs.both(lambda trace: [row["kind"] for row in rows(trace, "notes")])
    assert ("fallback" in notes[0], "fallback" in notes[1]) == (False, True)


SAVES = """
import tensorflow as tf

class Model(tf.Module):
    def __init__(self):
        self.weight = tf.Variable(2.0)

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return tf.exp(self.weight * x)

model = Model()
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(model(tf.constant([1.0, 2.0])))
tape.gradient(loss, model.weight)
tf.saved_model.save(model, "saved")
"""
LOADS = "import tensorflow as tf; print(tf.saved_model.load('saved')(tf.constant([1.0])).numpy().tolist())"


def test_what_was_saved_without_the_extension_loads_without_tdbg(tmp_path: Path) -> None:
    (tmp_path / "save.py").write_text(SAVES)
    source = str(Path(tdbg.__file__).parents[1])
    environment = os.environ | {"TDBG_NATIVE": "0", "TDBG_STRICT": "1", "PYTHONPATH": source}
    saved = subprocess.run(
        [sys.executable, "-m", "tdbg", "run", "-q", "save.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=240,
    )
    assert saved.returncode == 0, saved.stderr.decode()
    loaded = subprocess.run([sys.executable, "-c", LOADS], cwd=tmp_path, capture_output=True, text=True, timeout=240)
    assert json.loads(loaded.stdout) == pytest.approx([7.389056]), loaded.stderr
    assert b"PyFunc" not in (tmp_path / "saved" / "saved_model.pb").read_bytes()
