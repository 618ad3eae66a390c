"""The debugger below Keras 2 and tf-slim: a wrapped Session for the backend and for training, a hook for evaluation."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tensorflow.compat.v1 as tf
import tf_slim as slim

from tdbg.tensorflow import debug as tf_debug

tf.disable_eager_execution()


def runs_of(root: str) -> list[Any]:
    return [tf_debug.DebugDumpDir(str(run)) for run in sorted(Path(root).glob("run_*"))]


def with_value(runs: list[Any], node: str) -> list[Any]:
    return [run for run in runs if run.node_exists(node) and run.debug_watch_keys(node)]


@pytest.mark.parametrize("which", ["tf_keras", "tf.compat.v1.keras"])
def test_keras_2_trains_on_a_wrapped_session(which: str) -> None:
    if which == "tf_keras":
        from tf_keras.api._v1 import keras
    else:
        keras = tf.keras
    inputs, targets = np.ones([8, 3], np.float32), np.zeros([8, 1], np.float32)

    def fit(session: Any) -> list[float]:
        keras.backend.set_session(session)
        model = keras.Sequential([keras.layers.Dense(1, kernel_initializer="ones", input_shape=[3], name="only")])
        model.compile(optimizer="sgd", loss="mse")
        return model.fit(inputs, targets, batch_size=4, epochs=1, verbose=0).history["loss"]

    with tf.Graph().as_default():
        plain = fit(tf.Session())
    with tf.Graph().as_default():
        watched = fit(tf_debug.DumpingDebugWrapperSession(tf.Session(), "dumps"))
    assert watched == plain
    batches = with_value(runs_of("dumps"), "only/BiasAdd")
    assert [run.get_tensors("only/BiasAdd", 0, "DebugIdentity")[0].shape for run in batches] == [(4, 1), (4, 1)]


def predict() -> tuple[Any, Any]:
    inputs = tf.Variable(np.ones([4, 3], np.float32), trainable=False, name="inputs")
    outputs = slim.fully_connected(inputs, 1, None, weights_initializer=tf.ones_initializer(), scope="only")
    return tf.zeros([4, 1]), outputs


def test_slim_trains_through_a_wrapper_and_evaluates_with_a_hook() -> None:
    def train(logdir: str, **options: Any) -> float:
        with tf.Graph().as_default():
            loss = tf.losses.mean_squared_error(*predict())
            train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.01))
            return slim.learning.train(train_op, logdir, number_of_steps=3, **options)

    def evaluate(**options: Any) -> float:
        with tf.Graph().as_default():
            error, update = tf.metrics.mean_absolute_error(*predict())
            checkpoint = tf.train.latest_checkpoint("watched")
            return slim.evaluation.evaluate_once(
                "", checkpoint, "watched", num_evals=1, eval_op=update, final_op=error, **options
            )

    wrapper = partial(tf_debug.DumpingDebugWrapperSession, session_root="training", thread_name_filter="MainThread$")
    assert train("watched", session_wrapper=wrapper) == train("plain")
    steps = with_value(runs_of("training"), "only/BiasAdd")
    assert len(steps) == 3 and steps[0].get_tensors("only/BiasAdd", 0, "DebugIdentity")[0].shape == (4, 1)
    assert evaluate(hooks=[tf_debug.DumpingDebugHook("evaluation")]) == evaluate()
    assert len(with_value(runs_of("evaluation"), "only/BiasAdd")) == 1


def test_slim_training_at_the_prompt(type_in: Any, capsys: Any) -> None:
    """As the guide writes it: the class itself is the session_wrapper."""
    type_in("run -n", "run -t 2", "run -f has_inf_or_nan")
    with tf.Graph().as_default():
        loss = tf.losses.mean_squared_error(*predict())
        train_op = slim.learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.01))
        wrapper = partial(tf_debug.LocalCLIDebugWrapperSession, ui_type="readline", thread_name_filter="MainThread$")
        last = slim.learning.train(train_op, "model", number_of_steps=3, session_wrapper=wrapper)
    assert last < 9
    assert "run #1" in capsys.readouterr().out
