"""An ordinary classifier with early stopping and a checkpoint."""

import os
import tempfile

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(105)
rng = np.random.default_rng(105)
x = rng.normal(size=(300, 6)).astype("float32")
y = np.argmax(x[:, :3], axis=1)
model = tf.keras.Sequential(
    [
        tf.keras.layers.Input((6,)),
        tf.keras.layers.Dense(24, activation="relu"),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Dropout(0.1),
        tf.keras.layers.Dense(3),
    ]
)
loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
path = os.path.join(tempfile.mkdtemp(), "best.weights.h5")
callbacks = [
    tf.keras.callbacks.EarlyStopping(patience=2),
    tf.keras.callbacks.ModelCheckpoint(path, save_best_only=True, save_weights_only=True),
]
model.fit(x, y, batch_size=30, epochs=3, validation_split=0.2, callbacks=callbacks, verbose=0)
