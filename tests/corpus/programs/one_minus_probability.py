"""Binary cross entropy by hand: the complement of a probability rounds to zero."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(64)
rng = np.random.default_rng(64)
x = rng.normal(0, 25, size=(200, 4)).astype("float32")
y = (x[:, :1] > 0).astype("float32")


class Focal(tf.keras.losses.Loss):
    def call(self, y_true, y_pred):
        hit = y_true * tf.math.log(y_pred + 1e-9)
        miss = (1.0 - y_true) * tf.math.log(1.0 + 1e-9 - y_pred)
        return -(hit + miss)


model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1, activation="sigmoid")])
model.compile(optimizer="adam", loss=Focal())
model.fit(x, y, batch_size=50, epochs=2, verbose=0)
