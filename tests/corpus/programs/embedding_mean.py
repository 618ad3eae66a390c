"""Documents as the mean of their word vectors; index 0 is padding."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(22)
rng = np.random.default_rng(22)
words = rng.integers(0, 50, size=(80, 7))
words[33] = 0
labels = rng.integers(0, 2, size=(80, 1))


class MeanOfWords(tf.keras.layers.Layer):
    def __init__(self):
        super().__init__()
        self.table = tf.keras.layers.Embedding(50, 8)

    def call(self, ids):
        present = tf.cast(ids > 0, tf.float32)[..., None]
        total = tf.reduce_sum(self.table(ids) * present, axis=1)
        count = tf.reduce_sum(present, axis=1)
        return total / count


inputs = tf.keras.Input((7,), dtype="int32")
outputs = tf.keras.layers.Dense(1, activation="sigmoid")(MeanOfWords()(inputs))
model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss="binary_crossentropy")
model.fit(words, labels, epochs=2, batch_size=20, verbose=0, shuffle=False)
