"""Resistances in parallel; one is almost zero."""

import tensorflow as tf

log_r = tf.Variable([0.0, -46.0, 1.0])

for step in range(2):
    with tf.GradientTape() as tape:
        resistance = tf.exp(log_r)
        conductance = tf.math.reciprocal(resistance)
        loss = tf.reduce_mean(conductance)
    gradient = tape.gradient(loss, log_r)
    log_r.assign_sub(0.01 * gradient)
    print(step, loss.numpy(), gradient.numpy())
