"""Batch normalisation in Keras; one recording of the data set is broken."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(34)
rng = np.random.default_rng(34)
x = rng.normal(size=(96, 10)).astype("float32")
x[70, 4] = np.nan
y = rng.integers(0, 2, size=96)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((10,)),
        tf.keras.layers.Dense(12),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.ReLU(),
        tf.keras.layers.Dense(2),
    ]
)
model.compile(optimizer="sgd", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(x, y, batch_size=16, epochs=2, shuffle=False, verbose=0)
