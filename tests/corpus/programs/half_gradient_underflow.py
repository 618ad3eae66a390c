"""Gradients in float16 are too small for it, and nothing is scaled."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(92)
x = tf.constant(rng.normal(0, 1e-3, size=(256, 8)), tf.float32)
y = tf.constant(rng.normal(0, 1e-3, size=(256, 1)), tf.float32)
w = tf.Variable(tf.random.stateless_normal([8, 1], seed=[9, 2]) * 0.1)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        half = tf.cast(features, tf.float16) @ tf.cast(w, tf.float16)
        error = half - tf.cast(target, tf.float16)
        loss = tf.reduce_mean(tf.square(tf.cast(error, tf.float32)) * 1e-4)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for _ in range(25):
    train_step(x, y)
