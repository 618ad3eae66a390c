"""A callback sets the learning rate from the change of the loss."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(42)
rng = np.random.default_rng(42)


class Adaptive(tf.keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        with np.errstate(divide="ignore"):
            rate = np.float32(0.01) / np.float32(epoch)
        self.model.optimizer.learning_rate.assign(rate)


model = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(1)])
model.compile(optimizer=tf.keras.optimizers.SGD(0.01), loss="mse")
x, y = rng.normal(size=(64, 4)), rng.normal(size=(64, 1))
model.fit(x, y, batch_size=16, epochs=3, verbose=0, callbacks=[Adaptive()])
