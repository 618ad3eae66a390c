"""Keras MultiHeadAttention with a causal mask and dropout."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(101)
rng = np.random.default_rng(101)
x = rng.normal(size=(64, 6, 8)).astype("float32")
y = x.mean(axis=(1, 2))[:, None]
inputs = tf.keras.Input((6, 8))
attention = tf.keras.layers.MultiHeadAttention(2, 4, dropout=0.1)
h = attention(inputs, inputs, use_causal_mask=True)
h = tf.keras.layers.LayerNormalization()(h + inputs)
h = tf.keras.layers.GlobalAveragePooling1D()(h)
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(h))
model.compile(optimizer="adam", loss="mse")
model.fit(x, y, batch_size=16, epochs=3, verbose=0)
