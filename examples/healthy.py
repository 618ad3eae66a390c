"""A program without a bug, with infinities that are as they should be: an attention mask filled with -inf."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(6)
queries = rng.normal(size=(8, 10, 16)).astype(np.float32)
mask = np.tril(np.ones((10, 10), bool))
mixing = tf.Variable(tf.random.stateless_normal([16, 16], seed=[7, 8]) * 0.1)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        scores = tf.matmul(tf.matmul(x, mixing), x, transpose_b=True)
        weights = tf.nn.softmax(tf.where(mask, scores, -np.inf))
        loss = tf.reduce_mean(tf.square(tf.matmul(weights, x) - x))
    mixing.assign_sub(0.1 * tape.gradient(loss, mixing))
    return loss


for step in range(8):
    loss = train_step(tf.constant(queries))
print("loss:", float(loss))
