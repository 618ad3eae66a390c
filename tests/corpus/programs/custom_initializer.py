"""A Keras layer with an initializer of its own."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(27)
rng = np.random.default_rng(27)


class Scaled(tf.keras.initializers.Initializer):
    def __init__(self, fan):
        self.fan = fan

    def __call__(self, shape, dtype=None, **kwargs):
        values = tf.random.stateless_normal(shape, seed=[2, 7])
        return values * tf.math.rsqrt(float(shape[0] - self.fan))


model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((8,)),
        tf.keras.layers.Dense(8, activation="relu", kernel_initializer=Scaled(4)),
        tf.keras.layers.Dense(1, kernel_initializer=Scaled(8)),
    ]
)
model.compile(optimizer="sgd", loss="mse")
model.fit(rng.normal(size=(32, 8)), rng.normal(size=(32, 1)), epochs=1, verbose=0)
