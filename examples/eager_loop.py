"""Eager linear regression on features that are scaled by their spread. One feature is constant, so its spread is zero
and its scaled values are 0/0; from the first step on the loss is NaN."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
features = rng.normal(size=(256, 4)).astype(np.float32)
features[:, 2] = 3.0  # a sensor that was never connected
targets = features @ np.array([[1.0], [-2.0], [0.5], [3.0]], np.float32)


def scale(x):
    centred = x - tf.reduce_mean(x, axis=0)
    return centred / tf.math.reduce_std(x, axis=0)  # BUG: 0/0 where a column is constant


weights = tf.Variable(tf.zeros([4, 1]))
for step in range(10):
    with tf.GradientTape() as tape:
        predictions = tf.matmul(scale(tf.constant(features)), weights)
        loss = tf.reduce_mean(tf.square(predictions - targets))
    weights.assign_sub(0.1 * tape.gradient(loss, weights))
print("loss:", float(loss))
