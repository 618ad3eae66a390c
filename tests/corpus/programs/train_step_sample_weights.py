"""A custom train_step averages over the samples that have a weight."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(43)
rng = np.random.default_rng(43)
x = rng.normal(size=(64, 5)).astype("float32")
y = rng.normal(size=(64, 1)).astype("float32")
weight = (rng.random(64) < 0.7).astype("float32")
weight[32:48] = 0.0


class Weighted(tf.keras.Model):
    def train_step(self, data):
        inputs, target, sample_weight = data
        with tf.GradientTape() as tape:
            error = tf.squeeze(tf.square(self(inputs, training=True) - target), -1)
            loss = tf.reduce_sum(error * sample_weight) / tf.reduce_sum(sample_weight)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


inputs = tf.keras.Input((5,))
model = Weighted(inputs, tf.keras.layers.Dense(1)(inputs))
model.compile(optimizer="adam")
model.fit(x, y, sample_weight=weight, batch_size=16, epochs=1, shuffle=False, verbose=0)
