"""A custom loop under mixed_float16, without scaling of activations."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(65)
rng = np.random.default_rng(65)
x = rng.uniform(200, 255, size=(8, 256)).astype("float32")
y = rng.integers(0, 3, 8)
tf.keras.mixed_precision.set_global_policy("mixed_float16")
hidden = tf.keras.layers.Dense(16, kernel_initializer="ones")
head = tf.keras.layers.Dense(3, dtype="float32")
tf.keras.mixed_precision.set_global_policy("float32")
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(inputs, labels):
    with tf.GradientTape() as tape:
        features = hidden(inputs)
        logits = head(features)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
    variables = hidden.trainable_variables + head.trainable_variables
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss


for _ in range(2):
    print(train_step(tf.constant(x), tf.constant(y)).numpy())
