"""A squashed policy turns its actions back with atanh."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(63)
states = tf.constant(rng.normal(0, 8, size=(30, 3)), tf.float32)
w = tf.Variable(tf.ones([3, 2]))


@tf.function
def train_step(s):
    with tf.GradientTape() as tape:
        action = tf.tanh(s @ w)
        raw = tf.atanh(action)
        loss = tf.reduce_mean(tf.square(raw))
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


for _ in range(2):
    print(train_step(states).numpy())
