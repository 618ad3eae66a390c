"""A subclassed Keras model that matches histograms with a hand-written KL divergence."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(3)
rng = np.random.default_rng(3)
x = rng.normal(size=(256, 10)).astype("float32")
target = rng.dirichlet(np.ones(4), size=256).astype("float32")


class Histogram(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(16, activation="relu")
        self.out = tf.keras.layers.Dense(4, activation="relu")

    def call(self, inputs):
        counts = self.out(self.hidden(inputs))
        return counts / (tf.reduce_sum(counts, axis=-1, keepdims=True) + 1e-6)


def kl(y_true, y_pred):
    ratio = y_true / y_pred
    return tf.reduce_sum(y_true * tf.math.log(ratio + 1e-6), axis=-1)


model = Histogram()
model.compile(optimizer="adam", loss=kl)
model.fit(x, target, batch_size=64, epochs=2, verbose=0)
