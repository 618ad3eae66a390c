"""A layer in float16 computes the energy of a signal."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(7)
signal = rng.normal(0, 40, size=(16, 64)).astype(np.float32)
goal = rng.normal(size=(16, 1)).astype(np.float32)
w = tf.Variable(tf.random.stateless_normal([64, 1], seed=[7, 7]) * 0.1)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        half = tf.cast(x, tf.float16)
        energy = tf.reduce_sum(half * half, axis=1, keepdims=True)
        scaled = tf.cast(energy, tf.float32) * 1e-5
        loss = tf.reduce_mean((x @ w + scaled - y) ** 2)
    w.assign_sub(0.001 * tape.gradient(loss, w))
    return loss


for _ in range(4):
    print(float(train_step(signal, goal)))
