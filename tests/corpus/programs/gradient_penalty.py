"""A WGAN critic with a gradient penalty; the critic is flat at the start."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(68)
points = tf.constant(rng.normal(size=(16, 3)), tf.float32)
w = tf.Variable(tf.zeros([3, 4]))
v = tf.Variable(tf.random.stateless_normal([4, 1], seed=[6, 8]))


@tf.function
def train_step(x):
    with tf.GradientTape() as outer:
        with tf.GradientTape() as inner:
            inner.watch(x)
            score = tf.tanh(x @ w) @ v
        slope = inner.gradient(score, x)
        norm = tf.sqrt(tf.reduce_sum(tf.square(slope), axis=1))
        loss = tf.reduce_mean(tf.square(norm - 1.0))
    for variable, gradient in zip((w, v), outer.gradient(loss, (w, v))):
        variable.assign_sub(0.1 * gradient)
    return loss


for _ in range(2):
    print(train_step(points).numpy())
