"""bfloat16 inside, float32 weights, and a learning rate that goes down to nothing."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(104)
rng = np.random.default_rng(104)
x = rng.normal(size=(256, 8)).astype("float32")
y = np.tanh(x[:, :1] + x[:, 1:2])
tf.keras.mixed_precision.set_global_policy("mixed_bfloat16")
layers = tf.keras.layers
model = tf.keras.Sequential([layers.Input((8,)), layers.Dense(32, activation="relu"), layers.Dense(1, dtype="float32")])
tf.keras.mixed_precision.set_global_policy("float32")
rate = tf.keras.optimizers.schedules.CosineDecay(3e-3, 128)
model.compile(optimizer=tf.keras.optimizers.Adam(rate), loss="mse")
model.fit(x, y, batch_size=32, epochs=17, verbose=0)
