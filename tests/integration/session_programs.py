"""Programs for Sessions as people wrote them, each broken in one place; the line is marked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1


def _weights(resource: bool) -> Any:
    return v1.get_variable(
        "w", initializer=np.random.default_rng(1).normal(size=(4, 3)).astype("f"), use_resource=resource
    )


def _train(fetches: list[Any], feed: Callable[[int], dict[Any, Any]], steps: int = 6) -> None:
    with v1.Session() as session:
        session.run(v1.global_variables_initializer())
        for step in range(steps):
            session.run(fetches, feed(step))


def _batch(step: int) -> Any:
    return np.random.default_rng(step).normal(size=(8, 4))


def log_of_zero(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    y = v1.placeholder(tf.float32, [None, 3], name="y")
    p = tf.nn.softmax(tf.matmul(x, _weights(resource)) * 200.0)
    loss = -tf.reduce_mean(y * tf.math.log(p))  # the log
    train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)
    _train([train, loss], lambda step: {x: _batch(step), y: np.eye(3)[np.arange(8) % 3]})


def norm_at_zero(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    norm = tf.sqrt(tf.reduce_sum(tf.square(tf.matmul(x, _weights(resource))), 1))  # the norm
    train = v1.train.AdamOptimizer(0.1).minimize(tf.reduce_mean(norm))
    _train([train], lambda step: {x: _batch(step) * (step != 3)})


def normalised(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    mean, variance = tf.nn.moments(x, [0])
    scaled = (x - mean) / tf.sqrt(variance)  # the division
    loss = tf.reduce_mean(tf.square(tf.matmul(scaled, _weights(resource))))
    step_number = v1.train.get_or_create_global_step()
    train = v1.train.MomentumOptimizer(0.01, 0.9).minimize(loss, global_step=step_number)
    _train([train, loss], lambda step: {x: _batch(step) * ([1, 0, 1, 1] if step == 2 else 1)})


def nan_in_data(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 4], name="x")  # the data
    loss = tf.reduce_mean(tf.square(tf.matmul(x, _weights(resource))))
    train = v1.train.GradientDescentOptimizer(0.01).minimize(loss)
    _train([train], lambda step: {x: np.where(_batch(step) > 2.0, np.nan, _batch(step)) if step > 3 else _batch(step)})


def exploding(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    loss = tf.reduce_mean(tf.square(tf.matmul(x, _weights(resource))))  # the square
    train = v1.train.GradientDescentOptimizer(1e6).minimize(loss)
    _train([train, loss], lambda step: {x: _batch(step)}, steps=12)


def recurrent(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 5, 3], name="x")
    w = v1.get_variable("u", initializer=np.eye(3, dtype="f"), use_resource=resource)
    inputs = tf.transpose(x, [1, 0, 2])

    def body(i: Any, h: Any) -> Any:
        h = tf.tanh(tf.matmul(h, w) + inputs[i])
        return i + 1, h / tf.reduce_sum(tf.nn.relu(h), 1, keepdims=True)  # the loop

    _, last = v1.while_loop(lambda i, h: i < 5, body, [tf.constant(0), tf.ones_like(inputs[0])])
    train = v1.train.GradientDescentOptimizer(0.01).minimize(tf.reduce_mean(tf.square(last)))

    def feed(step: int) -> dict[Any, Any]:
        batch = np.random.default_rng(step).uniform(0.5, 2.0, size=(8, 5, 3))
        if step == 2:
            batch[1, 3] = -50
        return {x: batch}

    _train([train], feed, steps=4)


def chained(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    positive = tf.nn.relu(tf.matmul(x, _weights(resource)))
    logged = tf.math.log(positive)  # the inner log
    _train([tf.reduce_mean(tf.sqrt(logged))], lambda step: {x: _batch(step)}, steps=1)


def clean(resource: bool) -> None:
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    y = v1.placeholder(tf.int32, [None], name="y")
    logits = tf.matmul(x, _weights(resource))
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    train = v1.train.AdamOptimizer(0.01).minimize(loss)
    _train([train, loss], lambda step: {x: _batch(0), y: np.argmax(_batch(0)[:, :3], 1)}, steps=12)
