"""A tf.data pipeline takes the log of pixel intensities before training."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(5)
rng = np.random.default_rng(5)
images = rng.integers(0, 256, size=(96, 8, 8, 1)).astype("float32")
labels = rng.integers(0, 3, size=96)


def to_decibel(image, label):
    power = tf.square(image / 255.0)
    level = 10.0 * tf.math.log(power) / tf.math.log(10.0)
    return level / 100.0, label


dataset = tf.data.Dataset.from_tensor_slices((images, labels)).map(to_decibel).batch(24)

model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((8, 8, 1)),
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(3),
    ]
)
model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(dataset, epochs=1, verbose=0)
