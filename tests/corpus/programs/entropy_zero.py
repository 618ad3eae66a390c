"""Entropy regularisation: p times log p."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(59)
states = tf.constant(rng.normal(0, 80, size=(20, 4)), tf.float32)
w = tf.Variable(tf.random.stateless_normal([4, 3], seed=[5, 9]))

for step in range(3):
    with tf.GradientTape() as tape:
        p = tf.nn.softmax(states @ w)
        log_p = tf.math.log(p)
        entropy = -tf.reduce_sum(p * log_p, axis=1)
        loss = -tf.reduce_mean(entropy)
    gradient = tape.gradient(loss, w)
    w.assign_sub(0.01 * gradient)
