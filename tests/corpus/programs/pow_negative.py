"""A power-law activation in a custom layer."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(41)
rng = np.random.default_rng(41)


class PowerLaw(tf.keras.layers.Layer):
    def __init__(self, exponent):
        super().__init__()
        self.exponent = exponent

    def call(self, inputs):
        return tf.pow(inputs, self.exponent)


model = tf.keras.Sequential(
    [tf.keras.layers.Input((6,)), tf.keras.layers.Dense(8), PowerLaw(0.7), tf.keras.layers.Dense(1)]
)
model.compile(optimizer="adam", loss="mse")
model.fit(rng.normal(size=(48, 6)), rng.normal(size=(48, 1)), batch_size=16, epochs=1, verbose=0)
