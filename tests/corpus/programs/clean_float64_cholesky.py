"""Gaussian-process hyperparameters in double precision."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(110)
x = np.sort(rng.uniform(0, 5, 20))
y = tf.constant(np.sin(x)[:, None])
gap = tf.constant((x[:, None] - x[None, :]) ** 2)
log_length = tf.Variable(0.0, dtype=tf.float64)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        kernel = tf.exp(-gap / tf.exp(log_length)) + 0.01 * tf.eye(20, dtype=tf.float64)
        lower = tf.linalg.cholesky(kernel)
        half = tf.linalg.triangular_solve(lower, y)
        loss = tf.reduce_sum(half**2) + 2.0 * tf.reduce_sum(tf.math.log(tf.linalg.diag_part(lower)))
    log_length.assign_sub(0.01 * tape.gradient(loss, log_length))
    return loss


for _ in range(12):
    train_step()
