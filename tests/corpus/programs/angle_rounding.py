"""The angle between two directions, by the arc cosine of their dot product."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(18)
a = rng.normal(size=(500, 3)).astype(np.float32)
a /= np.linalg.norm(a, axis=1, keepdims=True)
turn = tf.Variable(tf.eye(3))

for step in range(3):
    with tf.GradientTape() as tape:
        b = tf.constant(a) @ turn
        cosine = tf.reduce_sum(a * b, axis=1) * (1 + 1e-6)
        angle = tf.acos(cosine)
        loss = tf.reduce_mean(angle)
    turn.assign_sub(0.01 * tape.gradient(loss, turn))
    print(step, loss.numpy())
