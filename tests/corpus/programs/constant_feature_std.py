"""A style loss compares the deviations of feature maps."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(58)
rng = np.random.default_rng(58)
images = rng.random((16, 6, 6, 1)).astype("float32")
layer = tf.keras.layers.Conv2D(3, 3, activation="relu", bias_initializer=tf.keras.initializers.Constant([0, 0, -50]))
layer.build((None, 6, 6, 1))
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(batch):
    with tf.GradientTape() as tape:
        maps = layer(batch)
        spread = tf.math.reduce_std(maps, axis=[1, 2])
        loss = tf.reduce_mean(tf.square(spread - 0.5))
    grads = tape.gradient(loss, layer.trainable_variables)
    optimizer.apply_gradients(zip(grads, layer.trainable_variables))
    return loss


for _ in range(3):
    print(train_step(tf.constant(images)).numpy())
