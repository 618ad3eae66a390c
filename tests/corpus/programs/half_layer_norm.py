"""Layer normalisation in float16 with the usual small epsilon."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(61)
x = rng.normal(size=(10, 8)).astype(np.float16)
x[4] = 0.5
gain = tf.Variable(tf.ones([8], tf.float16))


def layer_norm(inputs):
    mean = tf.reduce_mean(inputs, axis=-1, keepdims=True)
    centred = inputs - mean
    variance = tf.reduce_mean(centred * centred, axis=-1, keepdims=True)
    return centred * tf.math.rsqrt(variance + 1e-8) * gain


@tf.function
def train_step(inputs):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(layer_norm(inputs) - 1.0))
    gain.assign_sub(tf.cast(0.1, tf.float16) * tape.gradient(loss, gain))
    return loss


for _ in range(2):
    print(train_step(tf.constant(x)).numpy())
