"""Where trouble began, when bad values are beside it that did no harm, came earlier, or were hidden on the way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import Recorded, line_with, record

pytest.importorskip("tensorflow")

import keras
import tensorflow as tf

from tdbg.query.listing.tensor_page import tensor_page
from tdbg.query.over_time.timeline import Timeline
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.query.verdict.text import full_lines, short_lines
from tdbg.query.verdict.verdict import Verdict, explain

tf1 = tf.compat.v1
BAD_STEP = 3


def said_of(folder: Path, program: Callable[[], Any]) -> tuple[Verdict, Recorded]:
    with record(folder) as run:
        program()
    return explain(run.trace), run


# ---- masks


def masks(steps: int) -> Any:
    """Keys to look at; in one step a sample has none."""
    for step in range(steps):
        keep = np.arange(4)[None] < np.array([1, 2, 3])[:, None]
        yield keep & (np.arange(3)[:, None] != 1) if step == BAD_STEP else keep


def attend(weights: Any, x: Any, mask: Any) -> Any:
    scores = tf.matmul(x @ weights, x, transpose_b=True)
    scores = scores + mask[:, None, :]
    return tf.reduce_mean(tf.square(tf.nn.softmax(scores) @ x))  # the softmax


def train_eagerly(steps: int) -> None:
    """The mask is computed: log(0) is what makes it."""
    weights, x = tf.Variable(tf.eye(2)), tf.ones([3, 4, 2])
    for keep in masks(steps):
        mask = tf.math.log(tf.cast(keep, tf.float32))
        with tf.GradientTape() as tape:
            loss = attend(weights, x, mask)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))


class Attention(keras.Model):
    def __init__(self) -> None:
        super().__init__()
        self.kernel = self.add_weight(shape=(2, 2), initializer="identity")

    def call(self, inputs: Any) -> Any:
        return attend(self.kernel, *inputs)[None]


def fit_a_model(steps: int) -> None:
    """The mask is data: Python code gives it to a pipeline."""

    def batches() -> Any:
        for keep in masks(steps):
            yield (np.ones([3, 4, 2], "f"), np.where(keep, 0, -np.inf).astype("f")), np.ones(1, "f")

    shapes = (tf.TensorSpec([3, 4, 2]), tf.TensorSpec([3, 4])), tf.TensorSpec([1])
    data = tf.data.Dataset.from_generator(batches, output_signature=shapes)
    model = Attention()
    model.compile("sgd", "mse")
    model.fit(data, verbose=0, steps_per_epoch=steps, shuffle=False)


def train_in_a_session(steps: int) -> None:
    """The mask is fed."""
    with tf.Graph().as_default(), tf1.Session() as session:
        mask = tf1.placeholder(tf.float32, [3, 4])
        weights = tf1.get_variable("w", initializer=np.eye(2, dtype="f"), use_resource=True)
        loss = attend(weights, tf.ones([3, 4, 2]), mask)
        train = tf1.train.GradientDescentOptimizer(0.01).minimize(loss)
        session.run(tf1.global_variables_initializer())
        for keep in masks(steps):
            session.run([train, loss], {mask: np.where(keep, 0, -np.inf)})


WAYS = [train_eagerly, fit_a_model, train_in_a_session]


@pytest.mark.parametrize("train", WAYS, ids=lambda way: way.__name__)
def test_of_a_row_that_is_masked_wholly_the_softmax_is_the_origin_not_the_mask(tmp_path: Path, train: Any) -> None:
    said, run = said_of(tmp_path, lambda: train(BAD_STEP + 3))
    (origin,) = said.origins
    assert (origin.op.type, origin.cause.name, origin.row.step) == ("Softmax", "all_masked_softmax", BAD_STEP)
    assert origin.frame is not None and origin.frame.line == line_with(__file__, "the softmax")
    (given,) = origin.inputs
    assert f"-inf ×{given.row.neg_inf} of {given.row.elements}" in given.as_text()  # what the cause is about
    assert said.benign and said.harmless[0]
    steps = Timeline(run.trace, TraceScene(run.path).read, said.harmless[0], said.harm_begins[0]).parts(None, None, 100)
    before = [step for step in steps if step.first < BAD_STEP]
    assert before and all(step.bad == step.benign for step in before)
    assert any(step.bad > step.benign for step in steps)


@pytest.mark.parametrize("train", WAYS, ids=lambda way: way.__name__)
def test_a_mask_that_leaves_something_is_no_trouble(tmp_path: Path, train: Any) -> None:
    said, _ = said_of(tmp_path, lambda: train(BAD_STEP))
    assert said.name == "clean" and said.benign and not said.infinite_results


def test_infinities_that_go_into_a_sigmoid_or_a_minimum_are_no_trouble(tmp_path: Path) -> None:
    def program() -> None:
        best = tf.exp(tf.constant(200.0))
        tf.minimum(best, 1.0)
        tf.sigmoid(-best)

    said, run = said_of(tmp_path, program)
    assert said.name == "clean" and not said.infinite_results
    read = TraceScene(run.path).read
    rows = tensor_page(read, np.arange(len(run.table("tensors")))).to_pylist()
    (power,) = [row for row in rows if row["type"] == "Exp" and row["bad"]]
    assert [power[name] for name in ("min", "max", "mean", "std")] == [np.inf, np.inf, np.inf, None]


# ---- what came of what


def trained(loss_of: Callable[[Any], Any], start: Any, steps: int = 2) -> Callable[[], None]:
    def program() -> None:
        variable = tf.Variable(start)

        @tf.function
        def step(number: Any) -> Any:
            with tf.GradientTape() as tape:
                loss = loss_of(variable) if loss_of.__code__.co_argcount == 1 else loss_of(variable, number)
            variable.assign_sub(0.1 * tape.gradient(loss, variable))
            return loss

        for number in range(steps):
            step(tf.constant(float(number)))

    return program


def inf_minus_inf(x: Any) -> Any:
    limit = tf.constant([float("inf"), 1.0])  # the infinity
    product = limit * x
    return tf.reduce_sum(product - limit)


def inf_over_inf(x: Any) -> Any:
    powers = tf.exp(x)  # the overflow
    return tf.reduce_sum(powers / tf.reduce_max(powers))


@pytest.mark.parametrize(
    ("loss_of", "mark"),
    [(inf_minus_inf, "the infinity"), (inf_over_inf, "the overflow")],
    ids=lambda one: getattr(one, "__name__", ""),
)
def test_a_nan_of_two_infinities_is_a_consequence_of_the_first(tmp_path: Path, loss_of: Any, mark: str) -> None:
    said, _ = said_of(tmp_path, trained(loss_of, [1.0, 100.0]))
    assert [origin.frame.line for origin in said.origins if origin.frame] == [line_with(__file__, mark)]


def moved(x: Any) -> Any:
    x = tf.transpose(tf.reshape(tf.expand_dims(x, 0), [2, 3]), [1, 0])
    return tf.reduce_sum(tf.sqrt(x))


def test_a_value_does_not_come_from_the_shape_it_was_given(tmp_path: Path) -> None:
    said, _ = said_of(tmp_path, trained(moved, [1.0, -3.0, 2.0, 4.0, 5.0, 6.0]))
    (origin,) = said.origins
    assert [fact.op.type for fact in origin.inputs] == ["ReadVariableOp"]
    assert "the -3 came from ReadVariableOp" in "\n".join(origin.cause.evidence)


def clipped(x: Any) -> Any:
    logs = tf.math.log(x)
    return tf.reduce_sum(tf.clip_by_value(logs, -10.0, 10.0))


def test_what_a_clip_hides_is_the_first_bad_value_not_its_gradient(tmp_path: Path) -> None:
    said, run = said_of(tmp_path, trained(clipped, [0.0, 0.5]))
    (origin,) = said.origins
    assert (origin.op.type, origin.kind, origin.cause.name) == ("Log", "backward", "clip_after_bad_op")
    assert origin.row.seq == min(row["seq"] for row in run.tensors if row["flags"] & 1)
    assert "hidden from the loss but not from the gradient" in short_lines(said)[0]
    assert origin.reach.as_text().endswith("→ the loss")  # of the next step


def beside(x: Any, number: Any) -> Any:
    tf.print(tf.math.log(0.0 * tf.reduce_min(number)), output_stream="file:///dev/null")
    return tf.reduce_sum(tf.sqrt(x - number))  # the loss


def test_what_spoilt_the_training_is_told_before_an_infinity_beside_it(tmp_path: Path) -> None:
    said, _ = said_of(tmp_path, trained(beside, [1.5, 1.7], steps=4))
    first, other = said.origins
    assert (first.op.type, first.row.step) == ("Sqrt", 2) and other.op.type == "Log"
    assert (other.row.step, other.reach.as_text()) == (0, "")
    assert short_lines(said)[0].startswith("tdbg: first bad value that reached the training at step 2")


# ---- optimizers


def train_with_keras() -> None:
    optimizer, x = keras.optimizers.Adam(), tf.Variable([1.0, 2.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(1e22 * x * x)
        optimizer.apply([tape.gradient(loss, x)], [x])


def train_with_a_kernel() -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        x = tf1.get_variable("w", initializer=[1.0, 2.0], use_resource=True)
        loss = tf.reduce_sum(1e22 * x * x)
        optimizer = tf1.train.AdamOptimizer()
        train = optimizer.minimize(loss)
        session.run(tf1.global_variables_initializer())
        for _ in range(3):
            session.run(optimizer.get_slot(x, "v"))
            session.run([train, loss])


@pytest.mark.parametrize("train", [train_with_keras, train_with_a_kernel], ids=lambda way: way.__name__)
def test_a_second_moment_that_overflows_is_the_cause(tmp_path: Path, train: Any) -> None:
    said, _ = said_of(tmp_path, train)
    assert said.origins[0].cause.name == "second_moment_overflow" and not said.benign
    assert said.origins[0].row.pos_inf
    assert said.origins[0].reach.as_text().index("weights") < said.origins[0].reach.as_text().index("the loss")


# ---- results


def print_it() -> None:
    tf.math.log(tf.constant([0.5, 0.0])).numpy()  # a result


def return_it() -> None:
    @tf.function
    def logs(p: Any) -> Any:
        return -tf.math.log(p)  # a result

    logs(tf.constant([0.5, 0.0]))


def fetch_it() -> None:
    with tf.Graph().as_default(), tf1.Session() as session:
        given = tf1.placeholder(tf.float32, [2])
        session.run(tf.math.log(given), {given: [0.5, 0.0]})  # a result


@pytest.mark.parametrize("program", [print_it, return_it, fetch_it], ids=lambda way: way.__name__)
def test_an_infinity_in_a_result_is_named(tmp_path: Path, program: Any) -> None:
    said, _ = said_of(tmp_path, program)
    (one,) = said.infinite_results
    assert (said.name, one.op.type) == ("clean", "Log")
    assert one.frame is not None and "# a result" in Path(__file__).read_text().splitlines()[one.frame.line - 1]
    for lines in (short_lines(said), full_lines(said)):
        assert "but infinity in a result that no op read" in lines[0] and "Log → -inf ×1 of 2" in lines[1]
    assert not any(line.endswith("…") for line in full_lines(said))  # notes are told whole


# ---- what was bad before anybody looked


def descend(weights: Any, read: Callable[[], Any]) -> None:
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(read()))
        weights.assign_sub(0.1 * tf.convert_to_tensor(tape.gradient(loss, weights)))


def lost() -> Any:
    return tf.Variable(np.full([3, 1], np.nan, np.float32), name="weights")


@pytest.mark.parametrize("read", [lambda w: tf.ones([2, 3]) @ w, lambda w: tf.gather(w, [0, 2])])
def test_weights_that_were_bad_when_recording_began_are_not_blamed_on_the_data(tmp_path: Path, read: Callable) -> None:
    weights = lost()
    verdict, _ = said_of(tmp_path, lambda: descend(weights, lambda: read(weights)))
    cause = verdict.origins[0].cause
    assert cause.name == "unknown" and "was already bad when it was first seen" in cause.reason

    def whole() -> None:
        made = lost()
        descend(made, lambda: read(made))

    (tmp_path / "whole").mkdir()
    verdict, _ = said_of(tmp_path / "whole", whole)
    assert verdict.origins[0].cause.name == "bad_initial_weights"


def test_a_gradient_of_what_was_not_recorded_is_not_blamed_on_the_data(tmp_path: Path) -> None:
    weights = lost()
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.ones([2, 3]) @ weights))
    verdict, _ = said_of(tmp_path, lambda: weights.assign_sub(tape.gradient(loss, weights)))
    cause = verdict.origins[0].cause
    assert cause.name == "unknown" and "was not recorded" in cause.reason


# ---- what only follows from trouble


def wrong_softmax(scores: Any) -> Any:
    parts = tf.exp(scores - tf.reduce_max(scores, axis=0))  # of the batch, not of each row
    return parts / tf.reduce_sum(parts, axis=1, keepdims=True)  # of the row


def classify(softmax: Callable, in_graph: bool = False) -> None:
    weights = tf.Variable(np.random.default_rng(0).normal(size=(4, 3), scale=100).astype(np.float32))
    x, y = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32), tf.one_hot(np.arange(8) % 3, 3)

    def step() -> None:
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(y * tf.math.log(softmax(x @ weights) + 1e-7))
        weights.assign_sub(0.1 * tape.gradient(loss, weights))

    run = tf.function(step) if in_graph else step
    for _ in range(3):
        run()


@pytest.mark.parametrize("way", [lambda f: f, tf.function, tf.recompute_grad], ids=["plain", "function", "recomputed"])
def test_the_gradient_of_a_maximum_that_is_nan_is_no_second_place(tmp_path: Path, way: Callable) -> None:
    verdict, _ = said_of(tmp_path, lambda: classify(way(wrong_softmax)))
    assert [(one.op.type, one.frame.line) for one in verdict.origins if one.frame] == [
        ("RealDiv", line_with(__file__, "of the row"))
    ]


def test_recomputing_what_is_good_is_no_trouble(tmp_path: Path) -> None:
    """TensorFlow puts a NaN beside it, which is never chosen."""
    verdict, _ = said_of(tmp_path, lambda: classify(tf.recompute_grad(lambda z: tf.nn.softmax(z / 100)), True))
    assert not verdict.origins
