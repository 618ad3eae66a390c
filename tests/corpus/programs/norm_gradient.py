"""Contrastive learning; the norm of a difference, in an eager loop."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(45)
anchors = rng.normal(size=(16, 8)).astype(np.float32)
partners = anchors + rng.normal(0, 0.1, size=(16, 8)).astype(np.float32)
partners[9] = anchors[9]
encoder = tf.Variable(tf.random.stateless_normal([8, 4], seed=[4, 5]))

for step in range(3):
    with tf.GradientTape() as tape:
        gap = tf.constant(anchors) @ encoder - tf.constant(partners) @ encoder
        distance = tf.norm(gap, axis=1)
        loss = tf.reduce_mean(distance)
    gradient = tape.gradient(loss, encoder)
    encoder.assign_sub(0.01 * gradient)
    print(step, loss.numpy())
