"""A bad label in the data, and distances of equal points."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(36)
left = rng.normal(size=(32, 4)).astype(np.float32)
right = rng.normal(size=(32, 4)).astype(np.float32)
right[5] = left[5]
weight = rng.random(32).astype(np.float32)
weight[20] = np.nan
w = tf.Variable(tf.eye(4))
scale = tf.Variable(1.0)


@tf.function
def distance_step(a, b):
    with tf.GradientTape() as tape:
        gap = tf.reduce_sum(tf.square((a - b) @ w), axis=1)
        loss = tf.reduce_mean(tf.sqrt(gap))
    return loss, tape.gradient(loss, w)


@tf.function
def weight_step(values):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(values * scale))
    return loss, tape.gradient(loss, scale)


_, gradient = distance_step(tf.constant(left), tf.constant(right))
weights = tf.constant(weight)
_, scale_gradient = weight_step(weights)
w.assign_sub(0.1 * gradient)
scale.assign_sub(0.1 * scale_gradient)
print(w.numpy(), scale.numpy())
