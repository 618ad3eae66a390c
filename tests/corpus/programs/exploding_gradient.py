"""A deep linear stack with weights that are too large, for a few steps."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(83)
x = tf.constant(rng.normal(size=(32, 8)), tf.float32)
layers = [tf.Variable(tf.random.stateless_normal([8, 8], seed=[8, i]) * 2.0) for i in range(12)]


@tf.function
def train_step(inputs):
    with tf.GradientTape() as tape:
        h = inputs
        for w in layers:
            h = h @ w
        loss = tf.reduce_mean(tf.square(h))
    for w, g in zip(layers, tape.gradient(loss, layers)):
        w.assign_sub(1e-30 * g)
    return loss


for _ in range(20):
    train_step(x)
