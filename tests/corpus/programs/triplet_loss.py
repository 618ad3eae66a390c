"""Triplet loss in a Keras model; a triplet repeats its anchor."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(54)
rng = np.random.default_rng(54)
triplets = rng.normal(size=(48, 3, 6)).astype("float32")
triplets[29, 1] = triplets[29, 0]


def distance(a, b):
    return tf.sqrt(tf.reduce_sum(tf.square(a - b), axis=-1))


def triplet(_, embedded):
    anchor, positive, negative = tf.unstack(embedded, axis=1)
    return tf.reduce_mean(tf.nn.relu(distance(anchor, positive) - distance(anchor, negative) + 5.0))


inputs = tf.keras.Input((3, 6))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(4)(inputs))
model.compile(optimizer="adam", loss=triplet)
model.fit(triplets, np.zeros(48), batch_size=16, epochs=1, shuffle=False, verbose=0)
