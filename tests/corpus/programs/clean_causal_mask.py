"""Causal self attention with minus infinity in the mask; every row keeps at least itself."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(100)
x = tf.constant(rng.normal(size=(4, 7, 8)), tf.float32)
w = tf.Variable(tf.random.stateless_normal([8, 8], seed=[10, 0]) * 0.2)
bias = tf.constant(np.triu(np.full((7, 7), -np.inf, np.float32), 1))
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def train_step(tokens):
    with tf.GradientTape() as tape:
        scores = tf.matmul(tokens @ w, tokens, transpose_b=True)
        weights = tf.nn.softmax(scores + bias)
        loss = tf.reduce_mean(tf.square(tf.matmul(weights, tokens) - tokens))
    optimizer.apply_gradients([(tape.gradient(loss, w), w)])
    return loss


for _ in range(12):
    train_step(x)
