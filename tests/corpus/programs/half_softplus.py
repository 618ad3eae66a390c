"""Softplus written out, in half precision."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(60)
x = tf.constant(rng.normal(0, 6, size=(32, 5)), tf.float16)
w = tf.Variable(tf.ones([5], tf.float16))


@tf.function
def train_step(inputs):
    with tf.GradientTape() as tape:
        grown = tf.exp(inputs * w)
        loss = tf.reduce_mean(tf.math.log(1.0 + grown))
    w.assign_sub(tf.cast(0.1, tf.float16) * tape.gradient(loss, w))
    return loss


for _ in range(2):
    print(train_step(x).numpy())
