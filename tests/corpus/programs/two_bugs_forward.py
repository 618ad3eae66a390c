"""Two loss terms, and each has its own fault."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(35)
x = rng.normal(size=(30, 5)).astype(np.float32)
w = tf.Variable(tf.random.stateless_normal([5, 2], seed=[3, 5]))
u = tf.Variable(tf.random.stateless_normal([5, 2], seed=[3, 6]))


@tf.function
def train_step(inputs):
    with tf.GradientTape() as tape:
        first = inputs @ w
        fit_term = tf.reduce_mean(tf.math.log(first))
        second = tf.exp(tf.square(inputs @ u) * 60.0)
        size_term = tf.reduce_mean(second)
        loss = fit_term + size_term
    for v, g in zip((w, u), tape.gradient(loss, (w, u))):
        v.assign_sub(1e-3 * g)
    return loss


for _ in range(3):
    print(train_step(tf.constant(x)).numpy())
