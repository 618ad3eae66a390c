"""Linear regression by gradient descent with too large a step."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(28)
x = rng.uniform(0, 100, size=(50, 3)).astype(np.float32)
y = (x @ np.array([[1.0], [2.0], [-1.0]])).astype(np.float32)
w = tf.Variable(tf.zeros([3, 1]))


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        error = features @ w - target
        squared = error * error
        loss = tf.reduce_mean(squared)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for step in range(40):
    loss = train_step(tf.constant(x), tf.constant(y))
print(loss.numpy())
