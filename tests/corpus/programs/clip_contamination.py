"""Gradients are clipped by their global norm; one of them is infinite."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(32)
points = rng.normal(size=(20, 4)).astype(np.float32)
points[7] = 0
w = tf.Variable(tf.eye(4))
v = tf.Variable(tf.ones([4, 1]))
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        moved = x @ w
        length = tf.sqrt(tf.reduce_sum(moved**2, axis=1))
        loss = tf.reduce_mean(length) + tf.reduce_mean(tf.square(x @ v))
    grads = tape.gradient(loss, [w, v])
    clipped, norm = tf.clip_by_global_norm(grads, 1.0)
    optimizer.apply_gradients(zip(clipped, [w, v]))
    return loss


for _ in range(3):
    print(train_step(tf.constant(points)).numpy())
