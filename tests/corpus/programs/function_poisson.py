"""Poisson regression under tf.function; the rate is a linear function of the input."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
x = rng.normal(size=(200, 6)).astype(np.float32)
y = rng.poisson(2.0, size=200).astype(np.float32)
w = tf.Variable(tf.random.stateless_normal([6], seed=[1, 1]))
b = tf.Variable(2.0)


def rate(features):
    return tf.linalg.matvec(features, w) + b


@tf.function
def train_step(features, counts):
    with tf.GradientTape() as tape:
        mu = rate(features)
        log_mu = tf.math.log(mu)
        loss = tf.reduce_mean(mu - counts * log_mu)
    for variable, gradient in zip((w, b), tape.gradient(loss, (w, b))):
        variable.assign_sub(0.05 * gradient)
    return loss


for step in range(30):
    loss = train_step(tf.constant(x), tf.constant(y))
print("final loss", loss.numpy())
