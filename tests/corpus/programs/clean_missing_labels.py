"""Labels that are missing are NaN, and are replaced before the loss sees them."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(104)
x = tf.constant(rng.normal(size=(64, 3)), tf.float32)
labels = (x.numpy() @ [1.0, 2.0, 3.0]).astype(np.float32)
labels[::7] = np.nan
w = tf.Variable(tf.zeros([3, 1]))


@tf.function
def train_step(features, target):
    known = tf.math.is_finite(target)
    target = tf.where(known, target, 0.0)
    with tf.GradientTape() as tape:
        error = tf.squeeze(features @ w, 1) - target
        error = tf.where(known, error, 0.0)
        loss = tf.reduce_sum(tf.square(error)) / tf.reduce_sum(tf.cast(known, tf.float32))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for _ in range(15):
    train_step(x, tf.constant(labels))
