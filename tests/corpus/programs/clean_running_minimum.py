"""The smallest loss so far is kept in a variable that starts at infinity."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(102)
best = tf.Variable(np.inf, trainable=False)
w = tf.Variable([3.0, -2.0])


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    best.assign(tf.minimum(best, loss))
    return loss


for _ in range(15):
    train_step()
lowest = tf.constant(float("inf"))
for value in rng.normal(size=5):
    lowest = tf.minimum(lowest, tf.constant(value, tf.float32))
print(best.numpy(), lowest.numpy())
