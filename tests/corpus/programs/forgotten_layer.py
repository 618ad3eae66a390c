"""The optimizer is given the head's weights only."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(82)
rng = np.random.default_rng(82)
x = tf.constant(rng.normal(size=(128, 5)), tf.float32)
y = tf.sin(x[:, :1] * 2.0)
body = tf.keras.Sequential([tf.keras.layers.Input((5,)), tf.keras.layers.Dense(16, activation="tanh")])
head = tf.keras.Sequential([tf.keras.layers.Input((16,)), tf.keras.layers.Dense(1)])
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(inputs, target):
    with tf.GradientTape() as tape:
        features = body(inputs)
        loss = tf.reduce_mean(tf.square(head(features) - target))
    variables = body.trainable_variables + head.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients(list(zip(grads, variables))[-2:])
    return loss


for _ in range(25):
    train_step(x, y)
