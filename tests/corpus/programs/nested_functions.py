"""Losses are tf.functions that other tf.functions call."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(38)
x = rng.normal(size=(20, 3)).astype(np.float32)
w = tf.Variable(tf.ones([3, 1]))


@tf.function
def geometric_mean(values):
    logs = tf.math.log(values)
    return tf.exp(tf.reduce_mean(logs))


@tf.function
def objective(inputs):
    return geometric_mean(tf.squeeze(inputs @ w, 1)) + tf.reduce_sum(tf.square(w))


@tf.function
def train_step(inputs):
    with tf.GradientTape() as tape:
        loss = objective(inputs)
    w.assign_sub(0.01 * tape.gradient(loss, w))
    return loss


for _ in range(3):
    print(train_step(tf.constant(x)).numpy())
