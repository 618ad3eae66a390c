"""Fifteen sigmoid layers."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(84)
rng = np.random.default_rng(84)
x = rng.normal(size=(160, 8)).astype("float32")
y = (x[:, :1] > 0).astype("float32")
model = tf.keras.Sequential([tf.keras.layers.Input((8,))])
for _ in range(15):
    model.add(tf.keras.layers.Dense(8, activation="sigmoid"))
model.add(tf.keras.layers.Dense(1))
model.compile(optimizer=tf.keras.optimizers.SGD(0.1), loss="mse")
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
