"""Weights in bfloat16, and a learning rate that suits float32."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(96)
x = tf.constant(rng.normal(size=(64, 8)), tf.bfloat16)
y = tf.reduce_sum(x, axis=1, keepdims=True)
w = tf.Variable(tf.cast(tf.random.stateless_normal([8, 1], seed=[9, 6]) + 3.0, tf.bfloat16))


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        error = features @ w - target
        loss = tf.reduce_mean(tf.square(tf.cast(error, tf.float32)))
    w.assign_sub(tf.cast(1e-4, tf.bfloat16) * tape.gradient(loss, w))
    return loss


for _ in range(30):
    train_step(x, y)
