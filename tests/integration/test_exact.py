"""``--exact``: functions compute what they compute without tdbg, bit by bit, and what they compute is recorded."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from recorded_run import line_with, record

import tdbg
from tdbg.query.verdict.verdict import explain

tf = pytest.importorskip("tensorflow")

# (w * x) * a * b: TensorFlow multiplies a and b first, which is more than float32 holds.
REORDERED = """\
import tensorflow as tf
small, w = tf.Variable(1e-17), tf.Variable(tf.ones([4, 1]))

def scaled(x):
    y = x * 1e25
    return y * 1e25

@tf.function
def step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((scaled(tf.matmul(x * 1e-15, w) * small) * small - 1.0) ** 2)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss

for i in range(3):
    print(step(tf.ones([2, 4]) * 0.1 * (i + 1)).numpy())
raise SystemExit(3)
"""

# What optimizers fuse, fold and reorder, and what they must not run twice.
MANY = """\
import hashlib, threading
import numpy as np
import tensorflow as tf
from tensorflow import keras

keras.utils.set_random_seed(1)
rng = np.random.default_rng(0)
x = rng.normal(size=(64, 8)).astype("float32")

def show(*arrays):
    print(hashlib.sha256(b"".join(np.ascontiguousarray(one).tobytes() for one in arrays)).hexdigest()[:16])

def fit(layers, x, y):
    model = keras.Sequential(layers)
    model.compile(keras.optimizers.Adam(0.01), keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(x, y, epochs=2, batch_size=16, verbose=0)
    show(np.array(history.history["loss"]), *model.get_weights())

labels = rng.integers(0, 3, 64)
dense, dropout = keras.layers.Dense, keras.layers.Dropout
fit([dense(16, activation="relu"), keras.layers.BatchNormalization(), dropout(0.2), dense(3)], x, labels)
fit([keras.layers.LSTM(4), dense(3)], x.reshape(64, 4, 2), labels)
fit([keras.layers.Reshape((4, 2, 1)), keras.layers.Conv2D(4, 2, activation="relu"), keras.layers.Flatten(), dense(3)],
    x, labels)

count, w = tf.Variable(0), tf.Variable(x[:8, :3])

@tf.function
def loop(x):
    count.assign_add(1)
    for i in tf.range(5):
        x = x * 0.5 - tf.cast(i, tf.float32) if tf.reduce_sum(x) > 0 else tf.abs(x) + 1.0
    return x

show(*[loop(tf.constant(x[at])).numpy() for at in range(3)])
print("count", int(count))

@tf.function
def inner(x):
    return tf.nn.relu(tf.matmul(x, w) + 1.0)

with tf.GradientTape() as tape:
    out = tf.reduce_mean(inner(tf.constant(x)) ** 2)
show(out.numpy(), tape.gradient(out, w).numpy())

@tf.function
def outer(x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(tf.sin(x) * inner(tf.reshape(x, [1, 8]))[0, 0])
    return tape.gradient(y, x), tf.py_function(lambda v: v + 1, [y], tf.float32), tf.random.normal([2])

show(*[one.numpy() for one in outer(tf.constant(x[0]))])

@tf.function(jit_compile=True)
def compiled(x):
    return tf.reduce_sum(tf.exp(x))

show(compiled(tf.constant(x[0])).numpy())
@tf.function
def checked(at):
    tf.debugging.assert_less(at, 3, message="too large")
    return at

try:
    checked(tf.constant(5))
except tf.errors.InvalidArgumentError as error:
    print("too large" in str(error))

class Doubled(tf.Module):
    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def __call__(self, x):
        return x * 2.0

doubled = Doubled()
doubled(tf.constant([1.0]))
tf.saved_model.save(doubled, "saved")
show(tf.saved_model.load("saved")(tf.constant([3.0])).numpy())
raise SystemExit(4)
"""


def printed(folder: Path, program: str, *words: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(program)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STRICT": "1"}
    command = [sys.executable, *words, "train.py"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=240)


def exact(folder: Path, program: str) -> subprocess.CompletedProcess[str]:
    return printed(folder, program, "-m", "tdbg", "run", "-q", "--exact", "-o", "exact.tdbg")


def test_all_results_are_those_of_the_plain_program(tmp_path: Path) -> None:
    plain, ours = printed(tmp_path, MANY), exact(tmp_path, MANY)
    assert plain.returncode == 4, plain.stderr
    assert (ours.stdout, ours.returncode) == (plain.stdout, 4), ours.stderr
    assert "tdbg failed" not in ours.stderr
    trace = tdbg.open(tmp_path / "exact.tdbg")
    notes = [row["text"] for row in trace.table("notes").to_pylist()]
    assert not [text for text in notes if "differently than without tdbg" in text]
    assert trace.row_count("tensors") > 500


def test_a_product_that_overflows_in_the_plain_program_alone(tmp_path: Path) -> None:
    plain, ours = printed(tmp_path, REORDERED), exact(tmp_path, REORDERED)
    assert plain.stdout.split()[0] in ("inf", "nan"), plain.stderr
    assert (ours.stdout, ours.returncode) == (plain.stdout, 3)

    origin = explain(tdbg.open(tmp_path / "exact.tdbg")).origins[0]

    assert origin.cause.name == "reordered_constants"
    assert origin.frame is not None and "return y * 1e25" in origin.source
    assert "1e+25 (train.py:5) * 1e+25 (train.py:6) is larger than float32 can hold" in origin.cause.reason
    assert origin.reach.loss


def test_a_run_that_keeps_the_order_says_that_the_plain_program_may_not(tmp_path: Path) -> None:
    ours = printed(tmp_path, REORDERED, "-m", "tdbg", "run", "-o", "run.tdbg")
    assert "inf" not in ours.stdout
    verdict = explain(tdbg.open(tmp_path / "run.tdbg"))
    assert not verdict.origins
    (note,) = [text for text in verdict.coverage.notes if "--exact" in text]
    assert "may multiply the constants of train.py:5 and train.py:6 first, which gives more than float32" in note


def test_the_fix_of_reordered_constants_helps(tmp_path: Path) -> None:
    exact(tmp_path, REORDERED)
    fix = explain(tdbg.open(tmp_path / "exact.tdbg")).origins[0].cause.fix
    assert fix is not None
    (call,) = [word for word in fix.text.split(" with ") if word.startswith("tf.config")]
    fixed = REORDERED.replace("small, w =", f"{call}\nsmall, w =", 1)
    losses = printed(tmp_path, fixed).stdout.split()
    assert len(losses) == 3 and all(np.isfinite(float(loss)) for loss in losses)


@tf.function
def spoilt(x, w):
    hidden = tf.nn.relu(tf.matmul(x, w) + 1.0)
    return tf.reduce_mean(tf.math.log(hidden - hidden))  # the log


def test_a_bad_value_has_its_line_and_its_inputs(tmp_path: Path) -> None:
    x, w = tf.ones([4, 8]), tf.Variable(tf.ones([8, 3]))
    plain = spoilt(x, w).numpy()
    with record(tmp_path, exact=True) as run:
        assert spoilt(x, w).numpy() == plain
    origin = explain(run.trace).origins[0]
    assert origin.frame is not None and origin.frame.line == line_with(__file__, "the log")
    assert spoilt(x, w).numpy() == plain  # and afterwards


def test_functions_that_threads_call_at_the_same_time(tmp_path: Path) -> None:
    x, found = tf.constant([1.0, 2.0]), {}

    def work(number: int) -> None:
        function = tf.function(lambda x: tf.reduce_sum(x * number) + 1.0)
        found[number] = [float(function(x)) for _ in range(5)]

    with record(tmp_path, exact=True):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert found == {number: [3.0 * number + 1.0] * 5 for number in range(6)}


@pytest.mark.parametrize("other", [{"check": True}, {"break_on": ("nan > 0",)}, {"mode": "edges"}])
def test_what_cannot_be_exact_is_refused(tmp_path: Path, other: dict) -> None:
    with pytest.raises(tdbg.TdbgError, match="use one or the other"):
        tdbg.enable(tmp_path / "run.tdbg", exact=True, **other)
    assert not (tmp_path / "run.tdbg").exists()
