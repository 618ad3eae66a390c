"""The same commands on a Keras fit, a Transformer in a tf.function, an RNN of TensorFlow 1 and what was imported."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import stock_debugger
from same_commands import type_all

import tdbg

SOURCE = Path(tdbg.__file__).parents[1]
ROOT = SOURCE.parent
TRANSFORMER = f"""
import sys
sys.path.insert(0, {str(ROOT / "benchmarks")!r})
import tensorflow as tf
import transformer
train, batch = transformer.make_step(16), transformer.batch()
for _ in range(2):
    train(*batch)
"""
RNN = """
import numpy as np
import tensorflow.compat.v1 as tf
tf.disable_eager_execution()
words = tf.placeholder(tf.float32, [None, 7, 3], name="words")
kernel = tf.get_variable("cell/kernel", [7, 4], initializer=tf.initializers.random_normal(seed=1))
def cell(state, word):
    return tf.tanh(tf.matmul(tf.concat([word, state], 1), kernel, name="cell/matmul"), name="cell/state")
states = tf.scan(cell, tf.transpose(words, [1, 0, 2]), initializer=tf.zeros([5, 4]))
loss = tf.reduce_mean(tf.log(tf.reduce_sum(states[-1] ** 2, 1), name="loss/log"), name="loss/mean")
train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for step in range(3):
        session.run([train, loss], {words: np.zeros([5, 7, 3]) if step == 2 else np.ones([5, 7, 3])})
"""
DUMPS = RNN.replace(
    "    session.run(tf.global",
    "    session = tf_debug.DumpingDebugWrapperSession(session, 'dumps')\n    session.run(tf.global",
).replace("import numpy", "from tensorflow.python import debug as tf_debug\nimport numpy")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("everywhere")


@pytest.fixture(autouse=True)
def own_cache(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
    monkeypatch.setenv("TDBG_STATE", str(folder / "state"))


def run_python(folder: Path, *words: str) -> None:
    environment = os.environ | {"PYTHONPATH": str(SOURCE), "TF_CPP_MIN_LOG_LEVEL": "3"}
    ran = subprocess.run(
        [sys.executable, *words], cwd=folder, env=environment, capture_output=True, text=True, timeout=300
    )
    assert ran.returncode == 0, ran.stderr


def recorded(folder: Path, name: str, program: str) -> Path:
    (folder / f"{name}.py").write_text(program)
    run_python(folder, "-m", "tdbg", "run", "-q", "--mode", "full", "-o", f"{name}.tdbg", f"{name}.py")
    return folder / f"{name}.tdbg"


def test_a_keras_fit(folder: Path) -> None:
    shown = type_all(
        recorded(folder, "fit", (ROOT / "examples" / "keras_fit.py").read_text()), "compile_loss/poisson_loss/Log:0"
    )
    assert "NaN" in shown["why"] or "nan" in shown["why"]


def test_a_transformer_in_a_function(folder: Path) -> None:
    trace = recorded(folder, "attention", TRANSFORMER)
    scene = tdbg.open(trace)
    name = next(row["name"] for row in scene.table("ops").to_pylist() if row["type"] == "Softmax" and row["graph"] >= 0)
    shown = type_all(trace, f"{name}:0")
    assert "no bad values" in shown["why"]
    assert "gradient" in shown["grad"]


def test_an_rnn_of_tensorflow_1(folder: Path) -> None:
    shown = type_all(recorded(folder, "rnn", RNN), "scan/while/body/_1/cell/state:0")
    assert "loss/log" in shown["lt -f has_inf_or_nan"] and "rnn.py:" in shown["why"]
    assert "7" in shown["pt {tensor}"]  # one dump for each word


def test_dumps_of_tensorflow_itself(folder: Path) -> None:
    (folder / "dumps.py").write_text(DUMPS)
    run_python(folder, "dumps.py")
    shown = type_all(folder / "dumps", "loss/log:0")
    assert "loss/log" in shown["lt -f has_inf_or_nan"]


def test_events_of_debugger_v2(folder: Path) -> None:
    (folder / "train.py").write_text(stock_debugger.PROGRAM)
    events = stock_debugger.record(folder / "train.py", folder / "events", "FULL_TENSOR")
    shown = type_all(events, "Log:0")
    assert "Log" in shown["lt -f has_inf_or_nan"]
