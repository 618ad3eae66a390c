"""Keras with the mixed_float16 policy. A layer of its own squares its activations in float16, and the squares are more
than 65,504, the largest number that float16 has: infinity over infinity is NaN."""

import numpy as np
import tensorflow as tf

tf.keras.mixed_precision.set_global_policy("mixed_float16")


class EnergyShare(tf.keras.layers.Layer):
    def call(self, x):
        energy = x * x  # BUG: overflows float16 from 256 on
        return energy / tf.reduce_sum(energy, axis=-1, keepdims=True)


rng = np.random.default_rng(4)
inputs = (rng.normal(size=(256, 32)) * 800).astype(np.float32)
targets = rng.normal(size=(256, 1)).astype(np.float32)

tf.keras.utils.set_random_seed(4)
model = tf.keras.Sequential([tf.keras.layers.Dense(256), EnergyShare(), tf.keras.layers.Dense(1, dtype="float32")])
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
history = model.fit(inputs, targets, batch_size=64, epochs=1, verbose=0)
print("loss:", history.history["loss"][-1])
