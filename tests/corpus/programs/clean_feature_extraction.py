"""A head is trained on an encoder whose weights were loaded."""

import tempfile
from pathlib import Path

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(103)
rng = np.random.default_rng(103)
layers = tf.keras.layers
x = tf.constant(rng.normal(size=(64, 6)), tf.float32)
y = tf.sin(x[:, :1])
encoder = tf.keras.Sequential([layers.Input((6,)), layers.Dense(16, activation="tanh")])
head = tf.keras.Sequential([layers.Input((16,)), layers.Dense(1)])
with tempfile.TemporaryDirectory() as folder:
    encoder.save_weights(Path(folder) / "encoder.weights.h5")
    encoder.load_weights(Path(folder) / "encoder.weights.h5")
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(inputs, wanted):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(head(encoder(inputs)) - wanted))
    variables = head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for _ in range(30):
    train_step(x, y)
