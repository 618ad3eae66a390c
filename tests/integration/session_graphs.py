"""Eleven graphs of TensorFlow 1, small and of many kinds: each builder gives fetches and a feed_dict."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import tensorflow as tf

tf1 = tf.compat.v1
Built = tuple[Any, dict]
CPUS = tf1.ConfigProto(device_count={"CPU": 2})


def feed_forward() -> Built:
    x = tf1.placeholder(tf.float32, [None, 3], name="x")
    with tf1.name_scope("hidden"):
        h = tf.nn.relu(tf.matmul(x, tf.constant(np.eye(3, 4), tf.float32)), name="act")
    return tf.math.log(h, name="log"), {x: np.arange(6.0).reshape(2, 3)}


def convolution() -> Built:
    x = tf1.placeholder(tf.float32, [1, 6, 6, 2], name="images")
    y = tf.nn.max_pool2d(tf.nn.conv2d(x, tf.ones([3, 3, 2, 4]), 1, "SAME", name="conv"), 2, 2, "VALID")
    return tf.nn.bias_add(y, tf.range(4.0), name="biased"), {x: np.ones((1, 6, 6, 2))}


def _loop() -> Built:
    n = tf1.placeholder(tf.int32, [], name="n")
    _, total = tf1.while_loop(
        lambda i, t: i < n, lambda i, t: (i + 1, t * 2.0 + tf.cast(i, tf.float32)), [0, 1.0], name="loop"
    )
    return tf.identity(total, name="total"), {n: 4}


def loop_v1() -> Built:
    with control_flow(version_2=False):
        return _loop()


def loop_v2() -> Built:
    with control_flow(version_2=True):
        return _loop()


def condition() -> Built:
    x = tf1.placeholder(tf.float32, [], name="x")
    with control_flow(version_2=False):
        y = tf1.cond(x > 0, lambda: tf.sqrt(x, name="root"), lambda: tf.negative(x, name="minus"), name="choice")
    return tf.add(y, 1.0, name="sum"), {x: 4.0}


def rnn() -> Built:
    """A cell by hand, over a TensorArray, with its gradient."""
    x = tf1.placeholder(tf.float32, [5, 2, 3], name="sequence")
    w = tf1.get_variable("w", [7, 4], initializer=tf1.constant_initializer(0.1), use_resource=True)
    with control_flow(version_2=False):
        steps = tf.TensorArray(tf.float32, 5).unstack(x)

        def step(i: Any, state: Any) -> Any:
            return i + 1, tf.tanh(tf.matmul(tf.concat([steps.read(i), state], 1), w))

        _, last = tf1.while_loop(lambda i, _: i < 5, step, [0, tf.zeros([2, 4])], name="rnn")
        gradient = tf1.gradients(tf.reduce_sum(last), [w])[0]
    return [last, gradient], {x: np.ones((5, 2, 3))}


def _training(use_resource: bool) -> Built:
    x = tf1.placeholder(tf.float32, [None, 2], name="x")
    w = tf1.get_variable("w", [2, 1], initializer=tf1.ones_initializer(), use_resource=use_resource)
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w)), name="loss")
    return [tf1.train.GradientDescentOptimizer(0.1).minimize(loss), loss], {x: np.ones((3, 2))}


def resource_variables() -> Built:
    return _training(use_resource=True)


def ref_variables() -> Built:
    return _training(use_resource=False)


def two_devices() -> Built:
    x = tf1.placeholder(tf.float32, [2], name="x")
    with tf.device("/cpu:0"):
        a = tf.multiply(x, 2.0, name="a")
    with tf.device("/cpu:1"):
        b = tf.add(a, 1.0, name="b")
    with tf.device("/cpu:0"):
        return tf.divide(b, a - a, name="c"), {x: [1.0, 2.0]}


def element_types() -> Built:
    """Strings, bools, integers, bfloat16, complex; scalars and what is empty; and an op that waits for another."""
    x = tf1.placeholder(tf.float32, [2], name="x")
    with tf1.control_dependencies([tf.raw_ops.Assert(condition=tf.reduce_all(x > 0), data=[x], name="first")]):
        waits = tf.negative(x, name="waits")
    fetches = [
        tf.strings.join([tf.as_string(x), "!"], name="text"),
        tf.greater(x, 1.0, name="bools"),
        tf.cast(x, tf.int64, name="int64"),
        tf.cast(x, tf.uint8, name="uint8"),
        tf.cast(x / 0.0, tf.bfloat16, name="bfloat16"),
        tf.complex(x, x, name="complex64"),
        tf.cast(x, tf.float64, name="float64"),
        tf.reduce_sum(x, name="scalar"),
        tf.boolean_mask(x, x > 100.0, name="empty"),
        waits,
    ]
    return fetches, {x: [1.0, 2.5]}


def an_error() -> Built:
    x = tf1.placeholder(tf.float32, [None], name="x")
    return tf.reshape(tf.exp(x, name="exp"), [7], name="broken"), {x: [1.0, 2.0]}


GRAPHS: dict[str, Callable[[], Built]] = {
    build.__name__: build
    for build in (
        feed_forward, convolution, loop_v1, loop_v2, condition, rnn, resource_variables, ref_variables, two_devices,
        element_types, an_error,
    )
}  # fmt: skip


@contextlib.contextmanager
def control_flow(version_2: bool) -> Iterator[None]:
    was_on = tf1.control_flow_v2_enabled()
    (tf1.enable_control_flow_v2 if version_2 else tf1.disable_control_flow_v2)()
    try:
        yield
    finally:
        (tf1.enable_control_flow_v2 if was_on else tf1.disable_control_flow_v2)()


def dump(name: str, wrapper: Callable[[Any, str], Any], root: str, runs: int = 2) -> Any:
    """Runs a graph under a dumping wrapper; the tf.Graph."""
    with tf.Graph().as_default() as graph:
        fetches, feeds = GRAPHS[name]()
        session = tf1.Session(config=CPUS)
        session.run(tf1.global_variables_initializer())
        wrapped = wrapper(session, root)
        for _ in range(runs):
            with contextlib.suppress(tf.errors.InvalidArgumentError):
                wrapped.run(fetches, feeds)
        session.close()
    return graph
