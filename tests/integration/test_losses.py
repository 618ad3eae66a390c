"""The loss is what is differentiated, whatever way the program takes its gradient; what is not certain says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from recorded_run import line_with, record

from tdbg.query.over_time.curves import Curves
from tdbg.query.verdict.verdict import explain

tf = pytest.importorskip("tensorflow")

X = np.random.default_rng(0).normal(size=(32, 8)).astype(np.float32)
CLASSES = (X[:, 0] > 0).astype(np.int64)


def weights(rows: int, columns: int) -> Any:
    return tf.Variable(np.random.default_rng(rows + columns).normal(size=(rows, columns), scale=0.3).astype(np.float32))


def descend(tape: Any, loss: Any, variables: list, rate: float = 0.1) -> Any:
    for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
        variable.assign_sub(rate * gradient)
    return loss


# ---- programs: each gives the losses that it saw itself


def autoencoder(decorate: Callable, shown: str = "loss") -> list:
    encoder, decoder = weights(8, 4), weights(2, 8)

    @decorate
    def step(scale):
        with tf.GradientTape() as tape:
            code = tf.constant(X) @ encoder
            mean, log_variance = code[:, :2], code[:, 2:]
            rebuilt = tf.reduce_mean((mean @ decoder - X) ** 2) * scale
            divergence = -0.5 * tf.reduce_mean(1 + log_variance - mean**2 - tf.exp(log_variance))
            loss = rebuilt + 0.1 * divergence  # the loss of an autoencoder
        descend(tape, loss, [encoder, decoder])
        return loss if shown == "loss" else divergence

    return [float(step(scale)) for scale in (1.0, 1.0, 1.0, float("nan"))]


def autoencoder_in_a_function() -> list:
    return autoencoder(lambda step: tf.function(step, input_signature=[tf.TensorSpec((), tf.float32)]))


def autoencoder_in_eager_code() -> list:
    return autoencoder(lambda step: step)


def a_call_that_gives_the_loss_second() -> list:
    w, found = weights(8, 1), []

    @tf.function
    def compute(x):
        return tf.reduce_sum(x), tf.reduce_mean((x @ w) ** 2) + 0.5 * tf.nn.l2_loss(w)

    for _ in range(4):
        with tf.GradientTape() as tape:
            _, loss = compute(X)
        found.append(float(descend(tape, loss, [w])))
    return found


def functions_in_functions_traced_twice() -> list:
    w = weights(8, 1)

    @tf.function
    def compute(x):
        return tf.reduce_mean((x @ w) ** 2) + 0.5 * tf.nn.l2_loss(w)

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.identity(compute(x))
        return descend(tape, loss, [w])

    return [float(step(x)) for x in (X, X, X[:16], X[:16])]


def gradient_penalty() -> list:
    w, v = weights(8, 16), weights(16, 1)

    @tf.function
    def step():
        with tf.GradientTape() as tape:
            x = tf.constant(X)
            with tf.GradientTape() as inner:
                inner.watch(x)
                score = tf.nn.softplus(x @ w) @ v
            slope = inner.gradient(score, x)
            loss = tf.reduce_mean(score) + tf.reduce_mean((tf.norm(slope, axis=1) - 1) ** 2)
        return descend(tape, loss, [w, v])

    return [float(step()) for _ in range(4)]


def keras_with_regularisation_and_a_scaled_loss() -> list:
    keras = tf.keras
    model = keras.Sequential(
        [keras.layers.Input((8,)), keras.layers.Dense(8, kernel_regularizer="l2"), keras.layers.Dense(2)]
    )
    optimizer = keras.mixed_precision.LossScaleOptimizer(keras.optimizers.SGD(), initial_scale=64.0)
    model.compile(optimizer, keras.losses.SparseCategoricalCrossentropy(from_logits=True), metrics=["accuracy"])
    return model.fit(X, CLASSES, batch_size=32, epochs=4, verbose=0).history["loss"]


def session_with_validation() -> list:
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [None, 8])
        w = v1.get_variable("w", initializer=X[:8, :1])
        loss = tf.reduce_mean((x @ w) ** 2) + 0.1 * tf.nn.l2_loss(w)
        train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            found = []
            for _ in range(4):
                found.append(float(session.run([loss, train], {x: X})[0]))
                session.run(loss, {x: 100 * X})
    return found


@pytest.mark.parametrize(
    "program",
    [
        autoencoder_in_a_function,
        autoencoder_in_eager_code,
        a_call_that_gives_the_loss_second,
        functions_in_functions_traced_twice,
        gradient_penalty,
        keras_with_regularisation_and_a_scaled_loss,
        session_with_validation,
    ],
)
def test_the_loss_is_what_the_program_saw(program: Callable, tmp_path: Path) -> None:
    with record(tmp_path) as recorded:
        seen = program()
    curves = Curves(recorded.trace, 0)
    loss, curve = curves.the_loss(), curves.loss()
    assert loss is not None and curve is not None and not loss.note
    shown = [float("nan") if point.bad else point.value for point in curve.points]
    assert np.allclose(shown[-len(seen) :], seen, rtol=1e-3, equal_nan=True)


def test_the_loss_has_its_own_line_and_not_that_of_a_part(tmp_path: Path) -> None:
    with record(tmp_path) as recorded:
        autoencoder_in_a_function()
    loss = Curves(recorded.trace, 0).the_loss()
    line = line_with(__file__, "the loss of an autoencoder")
    assert loss is not None and loss.name.endswith(f"test_losses.py:{line}")


def test_a_loss_that_nobody_needs_is_not_computed_and_the_plot_says_so(tmp_path: Path) -> None:
    with record(tmp_path) as recorded:
        autoencoder(tf.function, shown="divergence")
    loss = Curves(recorded.trace, 0).the_loss()
    assert loss is not None and loss.name.startswith("Mul, ")
    assert "a part of the loss; the loss itself (AddV2, " in loss.note


def test_two_losses_are_not_taken_for_one(tmp_path: Path) -> None:
    a, b = weights(8, 1), weights(8, 1)

    @tf.function
    def step():
        with tf.GradientTape() as first, tf.GradientTape() as second:
            one = tf.reduce_mean((X @ a) ** 2)
            other = tf.reduce_mean((X @ b - 1) ** 2)
        return descend(first, one, [a]), descend(second, other, [b])

    with record(tmp_path) as recorded:
        for _ in range(3):
            step()
        tf.math.log(tf.reduce_sum(tf.zeros([3])))
    loss = Curves(recorded.trace, 0).the_loss()
    assert loss is not None and loss.note == "one of 2 tensors that gradients are taken of"
    first = explain(recorded.trace).first  # a number that the program prints, say, is neither of them
    assert first is not None and first.reach is not None and not first.reach.loss
