"""A ReLU network whose first layer was shifted far below zero by one bad initial bias."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(80)
rng = np.random.default_rng(80)
x = rng.normal(size=(256, 6)).astype("float32")
y = x[:, :1] * 2.0
inputs = tf.keras.Input((6,))
low = tf.keras.initializers.Constant(-30.0)
hidden = tf.keras.layers.Dense(16, activation="relu", bias_initializer=low)(inputs)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(hidden))
model.compile(optimizer="sgd", loss="mse")
model.fit(x, y, batch_size=32, epochs=3, verbose=0)
