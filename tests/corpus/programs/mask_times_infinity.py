"""A mask is turned into additive scores by multiplication with minus infinity."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(24)
x = rng.normal(size=(4, 5, 6)).astype(np.float32)
visible = np.tril(np.ones((5, 5), np.float32))
w = tf.Variable(tf.random.stateless_normal([6, 6], seed=[2, 4]) * 0.2)


@tf.function
def train_step(tokens, keep):
    with tf.GradientTape() as tape:
        scores = tf.matmul(tokens @ w, tokens, transpose_b=True)
        bias = (1.0 - keep) * float("-inf")
        weights = tf.nn.softmax(scores + bias)
        loss = tf.reduce_mean(tf.square(tf.matmul(weights, tokens)))
    w.assign_sub(0.1 * tape.gradient(loss, w))
    return loss


for _ in range(3):
    print(train_step(tf.constant(x), tf.constant(visible)).numpy())
