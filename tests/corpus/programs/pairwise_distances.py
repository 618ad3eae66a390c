"""A multidimensional-scaling model compares all pairs, each point with itself too."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(50)
wanted = tf.constant(np.abs(rng.normal(size=(12, 12))), tf.float32)
place = tf.Variable(tf.random.stateless_normal([12, 2], seed=[5, 0]))
optimizer = tf.keras.optimizers.Adam(0.05)


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        gap = place[:, None, :] - place[None, :, :]
        squared = tf.reduce_sum(gap**2, axis=-1)
        distance = squared**0.5
        loss = tf.reduce_mean((distance - wanted) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, place), place)])
    return loss


for step in range(4):
    print(step, train_step().numpy())
