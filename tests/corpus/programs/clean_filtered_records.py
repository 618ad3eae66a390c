"""Records with gaps are dropped by the pipeline before they are used."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(108)
rng = np.random.default_rng(108)
rows = rng.normal(size=(300, 4)).astype("float32")
rows[::9, 2] = np.nan
dataset = (
    tf.data.Dataset.from_tensor_slices(rows)
    .filter(lambda row: tf.reduce_all(tf.math.is_finite(row)))
    .map(lambda row: (row[:3], row[3:]))
    .batch(16)
)
model = tf.keras.Sequential([tf.keras.layers.Input((3,)), tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(dataset, epochs=2, verbose=0)
