"""A small VAE with a custom train_step."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(13)
data = np.random.default_rng(13).uniform(0, 200, size=(128, 16)).astype("float32")


class VAE(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.encoder = tf.keras.layers.Dense(8)
        self.decoder = tf.keras.layers.Dense(16)

    def train_step(self, x):
        with tf.GradientTape() as tape:
            mean, log_var = tf.split(self.encoder(x), 2, axis=-1)
            noise = tf.random.stateless_normal(tf.shape(mean), seed=[1, 3])
            z = mean + noise * tf.minimum(tf.sqrt(1.0 + tf.abs(log_var)), 3.0)
            rebuilt = self.decoder(z)
            variance = tf.exp(log_var)
            kl = 0.5 * tf.reduce_sum(tf.square(mean) + variance - 1.0 - log_var, axis=-1)
            loss = tf.reduce_mean(tf.reduce_sum(tf.square(x - rebuilt), axis=-1) + kl)
        grads = tape.gradient(loss, self.trainable_variables)
        self.optimizer.apply_gradients(zip(grads, self.trainable_variables))
        return {"loss": loss}


model = VAE()
model.compile(optimizer=tf.keras.optimizers.Adam(1e-3))
model.fit(data, batch_size=32, epochs=2, verbose=0)
