"""An encoder is cut off from the loss by stop_gradient."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(93)
rng = np.random.default_rng(93)
x = tf.constant(rng.normal(size=(64, 6)), tf.float32)
encoder = tf.keras.layers.Dense(4, activation="tanh")
decoder = tf.keras.layers.Dense(6)
encoder.build((None, 6))
decoder.build((None, 4))
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(inputs):
    with tf.GradientTape() as tape:
        code = tf.stop_gradient(encoder(inputs))
        loss = tf.reduce_mean(tf.square(decoder(code) - inputs))
    variables = encoder.trainable_variables + decoder.trainable_variables
    grads = tape.gradient(loss, variables)
    optimizer.apply_gradients((g, v) for g, v in zip(grads, variables) if g is not None)
    return loss


for _ in range(25):
    train_step(x)
