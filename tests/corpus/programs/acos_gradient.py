"""Rotation error between quaternions inside a Keras loss."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(51)
rng = np.random.default_rng(51)
x = np.repeat(np.eye(4, dtype="float32"), 8, axis=0)


def rotation_error(y_true, y_pred):
    unit = tf.math.l2_normalize(y_pred, axis=-1)
    w = tf.abs(tf.reduce_sum(unit * y_true, axis=-1))
    w = tf.clip_by_value(w, 0.0, 1.0)
    return 2.0 * tf.acos(w)


model = tf.keras.Sequential(
    [tf.keras.layers.Input((4,)), tf.keras.layers.Dense(4, use_bias=False, kernel_initializer="identity")]
)
model.compile(optimizer="sgd", loss=rotation_error)
model.fit(x, x, batch_size=8, epochs=1, verbose=0)
