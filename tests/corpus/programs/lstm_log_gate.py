"""A Keras RNN cell of one's own, whose gate works in log space."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(70)
rng = np.random.default_rng(70)


class LogCell(tf.keras.layers.Layer):
    state_size = 6

    def build(self, shape):
        self.kernel = self.add_weight(shape=(shape[-1], 6), initializer="glorot_uniform")
        self.recurrent = self.add_weight(shape=(6, 6), initializer="orthogonal")

    def call(self, inputs, states):
        drive = tf.nn.relu(inputs @ self.kernel + states[0] @ self.recurrent)
        gate = tf.math.log(drive)
        state = tf.tanh(gate)
        return state, [state]


model = tf.keras.Sequential([tf.keras.layers.Input((5, 3)), tf.keras.layers.RNN(LogCell()), tf.keras.layers.Dense(1)])
model.compile(optimizer="adam", loss="mse")
model.fit(rng.normal(size=(32, 5, 3)), rng.normal(size=(32, 1)), batch_size=16, epochs=1, verbose=0)
