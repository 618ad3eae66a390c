"""Targets of shape (N,) meet predictions of shape (N, 1)."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(86)
x = tf.constant(rng.normal(size=(64, 3)), tf.float32)
y = tf.constant(x.numpy() @ [1.0, -2.0, 0.5], tf.float32)
w = tf.Variable(tf.zeros([3, 1]))
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        prediction = features @ w
        error = prediction - target
        loss = tf.reduce_mean(tf.square(error))
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss


for _ in range(25):
    train_step(x, y)
