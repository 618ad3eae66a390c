"""Incomes and years go into the network as they are."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(91)
rng = np.random.default_rng(91)
table = np.stack([rng.normal(60000, 15000, 200), rng.uniform(1950, 2005, 200)], axis=1).astype("float32")
label = (table[:, 0] > 60000).astype("float32")
model = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)]
)
model.compile(optimizer="adam", loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
model.fit(table, label, batch_size=20, epochs=2, verbose=0)
