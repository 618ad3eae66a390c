"""Raw pixel sums go straight into a sigmoid layer."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(81)
x = tf.constant(rng.uniform(100, 255, size=(64, 20)), tf.float32)
y = tf.constant(rng.normal(size=(64, 1)), tf.float32)
w = tf.Variable(tf.random.stateless_normal([20, 12], seed=[8, 1]) * 2.0)
v = tf.Variable(tf.random.stateless_normal([12, 1], seed=[8, 2]) * 0.1)


@tf.function
def train_step(inputs, target):
    with tf.GradientTape() as tape:
        hidden = tf.sigmoid(inputs @ w)
        loss = tf.reduce_mean(tf.square(hidden @ v - target))
    for variable, gradient in zip((w, v), tape.gradient(loss, (w, v))):
        variable.assign_sub(0.01 * gradient)
    return loss


for _ in range(25):
    train_step(x, y)
