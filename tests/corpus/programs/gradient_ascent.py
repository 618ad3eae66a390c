"""The sign of the update is wrong."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(90)
x = tf.constant(rng.normal(size=(64, 4)), tf.float32)
y = x @ tf.constant([[1.0], [0.0], [2.0], [-1.0]])
w = tf.Variable(tf.zeros([4, 1]))


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(features @ w - target))
    w.assign_add(0.01 * tape.gradient(loss, w))
    return loss


for _ in range(40):
    loss = train_step(x, y)
print(loss.numpy())
