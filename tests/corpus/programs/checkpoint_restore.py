"""Training goes on from a weights file that an earlier run left behind."""

import os
import tempfile

import h5py
import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(25)
rng = np.random.default_rng(25)
path = os.path.join(tempfile.mkdtemp(), "last.weights.h5")


def build():
    model = tf.keras.Sequential([tf.keras.layers.Input((5,)), tf.keras.layers.Dense(2, name="out")])
    model.compile(optimizer="sgd", loss="mse")
    return model


build().save_weights(path)
with h5py.File(path, "r+") as file:
    file["layers/dense/vars/0"][3, 1] = np.nan

model = build()
model.load_weights(path)
model.fit(rng.normal(size=(32, 5)), rng.normal(size=(32, 2)), batch_size=8, epochs=1, verbose=0)
