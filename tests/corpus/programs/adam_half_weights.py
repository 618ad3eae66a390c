"""Everything in float16, the weights and Adam's state too."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(30)
rng = np.random.default_rng(30)
x = rng.normal(size=(64, 8)).astype("float16")
x[:, 3] = 0
y = rng.normal(size=(64, 1)).astype("float16")
w = tf.Variable(tf.cast(tf.random.stateless_normal([8, 1], seed=[3, 0]), tf.float16))
optimizer = tf.keras.optimizers.Adam(1e-3, epsilon=1e-8)


@tf.function
def train_step(features, target):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(features @ w - target))
    gradient = tape.gradient(loss, w)
    optimizer.apply([gradient], [w])
    return loss


for _ in range(3):
    print(train_step(x, y).numpy())
