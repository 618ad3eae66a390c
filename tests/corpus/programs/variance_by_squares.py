"""The deviation of a signal, from the mean of its squares."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(62)
signals = (1000.0 + rng.normal(0, 0.003, size=(40, 50))).astype(np.float32)
gain = tf.Variable(1.0)

for step in range(3):
    with tf.GradientTape() as tape:
        x = tf.constant(signals) * gain
        mean = tf.reduce_mean(x, axis=1)
        variance = tf.reduce_mean(x * x, axis=1) - mean * mean
        deviation = tf.sqrt(variance)
        loss = tf.reduce_mean(deviation)
    gain.assign_sub(0.1 * tape.gradient(loss, gain))
    print(step, loss.numpy())
