"""Sales are predicted in log space; some days sold nothing."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(23)
rng = np.random.default_rng(23)
x = rng.normal(size=(100, 3)).astype("float32")
sales = rng.poisson(3, size=(100, 1)).astype("float32")


def rmsle(y_true, y_pred):
    difference = y_pred - tf.math.log(y_true)
    return tf.sqrt(tf.reduce_mean(tf.square(difference)))


inputs = tf.keras.Input((3,))
model = tf.keras.Model(inputs, tf.keras.layers.Dense(1)(inputs))
model.compile(loss=rmsle, optimizer="rmsprop")
model.fit(x, sales, verbose=0, epochs=1, batch_size=25)
