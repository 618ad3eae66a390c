"""The log likelihood is clipped so that it stays finite."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(49)
rng = np.random.default_rng(49)
x = rng.normal(size=(60, 6)).astype("float32")
y = np.eye(3, dtype="float32")[rng.integers(0, 3, 60)]


def safe_loss(y_true, y_pred):
    logs = tf.math.log(y_pred)
    logs = tf.clip_by_value(logs, -20.0, 0.0)
    return -tf.reduce_sum(y_true * logs, axis=-1)


class Sparse(tf.keras.layers.Layer):
    def call(self, inputs):
        positive = tf.nn.relu(inputs)
        return positive / (tf.reduce_sum(positive, axis=-1, keepdims=True) + 0.01)


model = tf.keras.Sequential([tf.keras.layers.Input((6,)), tf.keras.layers.Dense(3), Sparse()])
model.compile(optimizer="adam", loss=safe_loss)
model.fit(x, y, batch_size=20, epochs=1, verbose=0)
