"""Mixed precision in Keras; the first loss scale is too large and is brought down by itself."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(103)
rng = np.random.default_rng(103)
x = rng.normal(size=(320, 8)).astype("float32")
y = x[:, :1] - x[:, 1:2]
tf.keras.mixed_precision.set_global_policy("mixed_float16")
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((8,)),
        tf.keras.layers.Dense(16, activation="relu"),
        tf.keras.layers.Dense(1, dtype="float32"),
    ]
)
tf.keras.mixed_precision.set_global_policy("float32")
optimizer = tf.keras.optimizers.LossScaleOptimizer(tf.keras.optimizers.Adam(0.01), initial_scale=2.0**24)
model.compile(optimizer=optimizer, loss="mse")
model.fit(x, y, batch_size=16, epochs=2, verbose=0)
