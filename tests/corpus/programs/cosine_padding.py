"""Cosine similarity of sequences; padded positions are zero vectors and are masked afterwards."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(53)
left = rng.normal(size=(3, 5, 4)).astype(np.float32)
left[1, 3:] = 0
right = rng.normal(size=(3, 5, 4)).astype(np.float32)
w = tf.Variable(tf.eye(4))


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        a = a @ w
        valid = tf.reduce_any(a != 0, axis=-1)
        dot = tf.reduce_sum(a * b, axis=-1)
        length = tf.sqrt(tf.reduce_sum(a * a, axis=-1)) * tf.norm(b, axis=-1)
        cosine = dot / length
        cosine = tf.where(valid, cosine, 0.0)
        loss = -tf.reduce_mean(cosine)
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for _ in range(3):
    print(train_step(tf.constant(left), tf.constant(right)).numpy())
