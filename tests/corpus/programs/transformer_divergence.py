"""A Transformer block whose attention temperature is learned, under fit."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(71)
rng = np.random.default_rng(71)
tokens = rng.integers(0, 30, size=(64, 8))
labels = rng.integers(0, 2, size=64)


class Block(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.qkv = tf.keras.layers.Dense(48)
        self.norm = tf.keras.layers.LayerNormalization()
        self.out = tf.keras.layers.Dense(16)
        self.sharpness = self.add_weight(shape=(), initializer=tf.keras.initializers.Constant(95.0))

    def call(self, x):
        q, k, v = tf.split(self.qkv(x), 3, axis=-1)
        scores = tf.matmul(q, k, transpose_b=True)
        weights = tf.nn.softmax(scores * tf.exp(self.sharpness))
        return self.norm(x + self.out(tf.matmul(weights, v)))


inputs = tf.keras.Input((8,), dtype="int32")
x = tf.keras.layers.Embedding(30, 16)(inputs)
x = tf.keras.layers.GlobalAveragePooling1D()(Block()(x))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(2)(x))
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(tokens, labels, batch_size=32, epochs=1, verbose=0)
