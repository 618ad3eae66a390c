"""Keras `fit` with a home-made Poisson loss. Nothing keeps the network's output positive, and the log of a negative
rate is NaN in the first batches."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(2)
inputs = rng.normal(size=(512, 8)).astype(np.float32)
counts = rng.poisson(np.exp(inputs[:, :1] * 0.5)).astype(np.float32)


def poisson_loss(y_true, y_pred):
    return tf.reduce_mean(y_pred - y_true * tf.math.log(y_pred))  # BUG: the rate may be negative


tf.keras.utils.set_random_seed(2)
model = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1)])
model.compile(optimizer="sgd", loss=poisson_loss)
history = model.fit(inputs, counts, batch_size=64, epochs=2, verbose=0)
print("loss:", history.history["loss"][-1])
