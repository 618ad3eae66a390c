"""The minimax loss of a GAN on two-dimensional points."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(14)
rng = np.random.default_rng(14)
real = rng.normal(20.0, 1.0, size=(64, 2)).astype("float32")
generator = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(2)])
critic = tf.keras.Sequential(
    [tf.keras.layers.Input((2,)), tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(1, "sigmoid")]
)
opt_g, opt_d = tf.keras.optimizers.SGD(0.05), tf.keras.optimizers.SGD(0.5)


@tf.function
def train_step(points, noise):
    with tf.GradientTape(persistent=True) as tape:
        fake = generator(noise)
        d_real, d_fake = critic(points), critic(fake)
        loss_real = -tf.reduce_mean(tf.math.log(d_real + 1e-7))
        loss_fake = -tf.reduce_mean(tf.math.log(1.0 - d_fake))
        loss_d = loss_real + loss_fake
        loss_g = -tf.reduce_mean(tf.math.log(d_fake + 1e-7))
    opt_d.apply_gradients(zip(tape.gradient(loss_d, critic.trainable_variables), critic.trainable_variables))
    opt_g.apply_gradients(zip(tape.gradient(loss_g, generator.trainable_variables), generator.trainable_variables))
    return loss_d


for step in range(25):
    noise = rng.normal(size=(64, 4)).astype("float32") * 10
    loss = train_step(tf.constant(real), tf.constant(noise))
print(loss.numpy())
