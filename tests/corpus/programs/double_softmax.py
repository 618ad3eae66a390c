"""The model ends in a softmax, and the loss takes logits."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(85)
rng = np.random.default_rng(85)
x = rng.normal(size=(240, 6)).astype("float32")
y = np.argmax(x[:, :3], axis=1)
inputs = tf.keras.Input((6,))
hidden = tf.keras.layers.Dense(16, activation="relu")(inputs)
outputs = tf.keras.layers.Dense(3)(hidden)


def objective(y_true, y_pred):
    probabilities = tf.nn.softmax(y_pred)
    labels = tf.cast(tf.reshape(y_true, [-1]), tf.int32)
    return tf.nn.sparse_softmax_cross_entropy_with_logits(labels, probabilities)


model = tf.keras.Model(inputs, outputs)
model.compile(optimizer="adam", loss=objective)
model.fit(x, y, batch_size=24, epochs=2, verbose=0)
