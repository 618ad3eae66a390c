"""Sensor readings come from a generator; a custom loop trains on them."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)


def readings():
    for i in range(64):
        row = rng.normal(size=4)
        if i == 41:
            row[2] = float("nan")
        yield row.astype(np.float32), np.float32(row[0] * 2)


signature = (tf.TensorSpec([4], tf.float32), tf.TensorSpec([], tf.float32))
dataset = tf.data.Dataset.from_generator(readings, output_signature=signature).batch(8)
w = tf.Variable(tf.zeros([4, 1]))
optimizer = tf.keras.optimizers.SGD(0.05)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        error = tf.squeeze(x @ w, -1) - y
        loss = tf.reduce_mean(error**2)
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss


for batch, (x, y) in enumerate(dataset):
    loss = train_step(x, y)
    print(batch, loss.numpy())
