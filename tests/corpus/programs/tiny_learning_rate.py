"""A learning rate so small that nothing is learnt."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(94)
rng = np.random.default_rng(94)
x = rng.normal(size=(320, 4)).astype("float32")
y = x.sum(axis=1, keepdims=True)
model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(8), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(1e-9), loss="mse")
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
