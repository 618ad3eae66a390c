"""The next letter of a text; number 0 is kept for letters that are not in the alphabet."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(105)
text = "the quick brown fox jumps over the lazy dog and runs " * 40
alphabet = sorted(set(text))
numbers = np.array([alphabet.index(letter) + 1 for letter in text])
windows = np.stack([numbers[at : at + 17] for at in range(0, 2048, 16)])
layers = tf.keras.layers
model = tf.keras.Sequential(
    [
        layers.Input((16,), dtype="int32"),
        layers.Embedding(len(alphabet) + 1, 16),
        layers.GRU(32, return_sequences=True),
        layers.Dense(len(alphabet) + 1),
    ]
)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer=tf.keras.optimizers.Adam(1e-2), loss=loss)
model.fit(windows[:, :-1], windows[:, 1:], batch_size=16, epochs=4, verbose=0)
