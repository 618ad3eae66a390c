"""A determinantal loss on feature matrices; two features are the same."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(19)
features = rng.normal(size=(12, 3)).astype(np.float32)
features[:, 2] = features[:, 1]
scale = tf.Variable(1.0)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        rows = tf.round(x * 4.0) * scale
        gram = tf.matmul(rows, rows, transpose_a=True)
        sign, volume = tf.linalg.slogdet(gram)
        loss = -volume
    scale.assign_sub(0.01 * tape.gradient(loss, scale))
    return loss


for _ in range(3):
    print(train_step(tf.constant(features)).numpy())
