"""Pairs of real runs: what is the same, where they part, and what could not be compared."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import line_with, record

from tdbg.__main__ import main
from tdbg.query.compare import text as diff_text
from tdbg.query.compare.diff import Diff, compare

tf = pytest.importorskip("tensorflow")

X = np.random.default_rng(5).normal(size=(32, 8))
Y = X[:, :1] * 0.5


@pytest.fixture(autouse=True)
def faults_are_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TDBG_STRICT", "1")


def train(
    seed: int = 1, rate: float = 0.1, dtype: Any = np.float32, steps: int = 6, graph: bool = True, offset: float = 0.0
) -> None:
    x, y = X.astype(dtype), Y.astype(dtype)
    first = tf.random.stateless_normal([8, 16], seed=[seed, 0], dtype=tf.float32)  # weights
    w, v = tf.Variable(tf.cast(first, dtype)), tf.Variable(tf.cast(first[:, :1], dtype))

    def step():
        with tf.GradientTape() as tape:
            hidden = tf.nn.tanh(x @ w)
            hidden = tf.concat([hidden, x], 1) + tf.constant(offset, dtype)  # offset
            loss = tf.reduce_mean((hidden @ tf.tile(v, [3, 1]) - y) ** 2)
        for variable, gradient in zip([w, v], tape.gradient(loss, [w, v]), strict=True):
            variable.assign_sub(tf.constant(rate, dtype) * gradient)  # update

    run = tf.function(step) if graph else step
    for _ in range(steps):
        run()


def diff_of(folder: Path, first: Callable, second: Callable, exact: bool = False, numbers_only: bool = False) -> Diff:
    with record(folder, "a") as a:
        first()
    with record(folder, "b") as b:
        second()
    return compare(a.trace, b.trace, exact, numbers_only)


def is_at(diff: Diff, mark: str) -> bool:
    assert diff.parting is not None
    frame = diff.parting.first.frame
    assert frame is not None
    return (frame.file, frame.line) == (__file__, line_with(__file__, mark))


@pytest.mark.parametrize("graph", [True, False], ids=["graph", "eager"])
@pytest.mark.parametrize("exact", [True, False], ids=["exact", "rounding"])
def test_the_same_program_twice_is_the_same(tmp_path: Path, graph: bool, exact: bool) -> None:
    diff = diff_of(tmp_path, lambda: train(graph=graph), lambda: train(graph=graph), exact)
    assert diff.parting is None, diff.parting
    assert (diff.largest, diff.notes, diff.steps) == (0, (), 6)
    assert diff.compared > 100


@pytest.mark.parametrize("graph", [True, False], ids=["graph", "eager"])
def test_another_seed_parts_at_the_initial_weights(tmp_path: Path, graph: bool) -> None:
    diff = diff_of(tmp_path, lambda: train(seed=1, graph=graph), lambda: train(seed=2, graph=graph))
    assert is_at(diff, "weights")
    assert diff.parting is not None and diff.parting.step == 0


@pytest.mark.parametrize("graph", [True, False], ids=["graph", "eager"])
def test_another_learning_rate_parts_at_the_first_update(tmp_path: Path, graph: bool) -> None:
    diff = diff_of(tmp_path, lambda: train(graph=graph), lambda: train(rate=0.11, graph=graph))
    assert is_at(diff, "update")
    assert diff.parting is not None and diff.parting.step == 0


def test_a_small_change_of_one_line_is_named(tmp_path: Path) -> None:
    diff = diff_of(tmp_path, train, lambda: train(offset=1e-3))
    assert is_at(diff, "offset")


@pytest.mark.parametrize("dtype", [np.float64, np.float16])
def test_another_element_type_is_rounding_at_first(tmp_path: Path, dtype: Any) -> None:
    diff = diff_of(tmp_path, lambda: train(steps=3), lambda: train(steps=3, dtype=dtype), numbers_only=True)
    assert diff.parting is None, diff.parting
    assert 0 < diff.largest < 0.05


def test_rounding_is_a_difference_when_bits_count(tmp_path: Path) -> None:
    diff = diff_of(tmp_path, train, lambda: train(dtype=np.float64), exact=True)
    assert diff.parting is not None


def test_missing_steps_are_said_and_the_others_compared(tmp_path: Path) -> None:
    diff = diff_of(tmp_path, lambda: train(steps=6), lambda: train(steps=4))
    assert diff.parting is None
    assert diff.steps == 4
    assert diff.notes == ("2 steps only in A, from step 4 on",)


def fit(policy: str = "float32") -> None:
    """Keras shuffles in a dataset, whose functions run ahead on several threads."""
    tf.keras.backend.clear_session()
    tf.keras.utils.set_random_seed(1)
    layers = tf.keras.layers
    stack = [layers.Dense(16, "tanh"), layers.LayerNormalization(), layers.Dense(1)]
    for layer in stack:
        layer.dtype_policy = tf.keras.DTypePolicy(policy)
    model = tf.keras.Sequential(stack)
    model.compile(tf.keras.optimizers.SGD(0.01), "mse")
    model.fit(X, Y, batch_size=4, verbose=0)


def test_a_fit_twice_is_the_same_though_its_dataset_runs_apart(tmp_path: Path) -> None:
    diff = diff_of(tmp_path, fit, fit, exact=True)
    assert diff.parting is None, diff.parting
    assert (diff.largest, diff.steps) == (0, 8)
    assert [note for note in diff.notes if "inside datasets, which run on their own" not in note] == []


def test_the_casts_of_mixed_precision_do_not_shift_other_ops(tmp_path: Path) -> None:
    """The loss has a cast of its own in both runs, and one more where predictions are of 16 bits."""
    diff = diff_of(tmp_path, fit, lambda: fit("mixed_bfloat16"), numbers_only=True)
    assert diff.parting is None, diff.parting
    assert any("ops only in B, the first Cast" in note for note in diff.notes)


def test_an_element_type_that_only_one_run_has_is_where_they_part(tmp_path: Path) -> None:
    diff = diff_of(tmp_path, lambda: train(steps=2, graph=False), lambda: train(steps=2, graph=False, dtype=np.float16))
    assert diff.parting is not None
    assert diff.parting.what == "element types float32 and float16"


def narrowed(narrow: bool, activation: Callable) -> None:
    """A product in float32, or one that goes through bfloat16 on its way."""

    @tf.function
    def step(x):
        if narrow:
            x = tf.cast(tf.cast(x, tf.bfloat16), tf.float32)  # narrowed
        return tf.reduce_sum(activation(x @ tf.ones([8, 4])))  # activation

    for _ in range(2):
        step(tf.constant(X, tf.float32))


def test_a_cast_that_only_one_run_has_is_where_they_part(tmp_path: Path) -> None:
    """Though what comes of it is within the rounding of bfloat16."""
    diff = diff_of(tmp_path, lambda: narrowed(False, tf.tanh), lambda: narrowed(True, tf.tanh))
    parting = diff.parting
    assert parting is not None and parting.first is None and parting.second is not None
    assert (parting.what, parting.second.op.type) == ("only in B", "Cast")
    frame = parting.second.frame
    assert frame is not None and frame.line == line_with(__file__, "narrowed")
    said = diff_text.lines(diff)
    assert said[0].startswith("tdbg: the runs diverge at step 0: Cast (")
    assert said[0].endswith(": only in B")
    assert diff.as_dict()["parting"]["a"] is None


def test_another_op_is_a_parting_though_its_numbers_are_the_same(tmp_path: Path) -> None:
    squares = [lambda x: tf.abs(x * x), lambda x: tf.nn.relu(x * x)]
    diff = diff_of(tmp_path, *(lambda f=f: narrowed(False, f) for f in squares))
    assert diff.parting is not None
    assert diff.parting.what.startswith("only in ")
    assert diff.parting.side.op.type in ("Abs", "Relu")


def test_values_kept_whole_are_compared_bit_by_bit(tmp_path: Path) -> None:
    """Two tensors with equal counts, extremes, mean and std, in another order."""
    given = [np.array(values, np.float32) for values in ([1, 2, 3, 4, 5, 6], [1, 3, 2, 4, 5, 6])]
    traces = []
    for number, values in enumerate(given):
        with record(tmp_path, f"run{number}", mode="full") as recorded:
            tf.abs(tf.constant(values))
        traces.append(recorded.trace)
    assert compare(*traces).parting is None
    parting = compare(*traces, exact=True).parting
    assert parting is not None and parting.what == "bits that no summary shows"


BEFORE = """
import tensorflow as tf
x = tf.reshape(tf.range(12, dtype=tf.float32), [4, 3])
w = tf.Variable(tf.ones([3, 1]))
for _ in range(3):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((tf.nn.relu(x @ w) - 1.0) ** 2)
    w.assign_sub(0.001 * tape.gradient(loss, w))
"""
MOVED = BEFORE.replace("x = tf", "# a line more\nprint(tf.reduce_sum(tf.ones([5])))\nx = tf")
EDITED = MOVED.replace("tf.nn.relu(x @ w) - 1.0", "tf.nn.relu(x @ w) - 1.5")


def run(folder: Path, name: str, text: str) -> str:
    script = folder / f"{name}.py"
    script.write_text(text)
    trace = folder / f"{name}.tdbg"
    with record(folder, name):
        exec(compile(text, str(script), "exec"), {"__name__": "__main__"})
    return str(trace)


def test_a_program_that_was_edited(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, moved, edited = (run(tmp_path, *program) for program in (("a", BEFORE), ("b", MOVED), ("c", EDITED)))
    capsys.readouterr()
    assert main(["diff", before, moved]) == 0
    said = capsys.readouterr().out
    assert said.startswith("tdbg: the same numbers in all ")
    assert "only in B" in said
    assert main(["diff", "--json", moved, edited]) == 1
    parting = json.loads(capsys.readouterr().out)["parting"]
    assert (parting["a"]["line"], parting["b"]["line"], parting["step"]) == (9, 9, 0)
    assert (parting["a"]["numbers"]["max"], parting["b"]["numbers"]["max"]) == (1.0, 1.5)
    assert main(["diff", moved, edited]) == 1
    said = capsys.readouterr().out
    assert "tdbg: the runs diverge at step 0: " in said
    assert "relu(x @ w) - 1.5" in said


def test_the_order_of_threads_does_not_matter(tmp_path: Path) -> None:
    """Branches that TensorFlow runs at the same time, in whatever order."""
    values = tf.random.stateless_normal([64, 64], seed=[1, 2])

    @tf.function
    def wide():
        return tf.add_n([tf.linalg.matmul(values + float(n), values) for n in range(16)])

    diff = diff_of(tmp_path, lambda: [wide() for _ in range(4)], lambda: [wide() for _ in range(4)], exact=True)
    assert diff.parting is None


def test_wrong_usage_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", str(tmp_path / "a.tdbg"), str(tmp_path / "b.tdbg")]) == 2
    assert main(["diff", "one"]) == 2
    assert "Traceback" not in capsys.readouterr().err
