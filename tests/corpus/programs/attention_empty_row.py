"""Self attention over padded sequences; some of them are empty."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(11)
lengths = np.array([5, 3, 0, 6, 2, 4])
tokens = rng.normal(size=(6, 6, 8)).astype(np.float32)
padding = np.arange(6)[None, :] >= lengths[:, None]
wq = tf.Variable(tf.random.stateless_normal([8, 8], seed=[1, 1]) * 0.3)
wk = tf.Variable(tf.random.stateless_normal([8, 8], seed=[1, 2]) * 0.3)
optimizer = tf.keras.optimizers.Adam(1e-3)


def attend(x, pad):
    scores = tf.matmul(x @ wq, x @ wk, transpose_b=True) / np.sqrt(8.0)
    scores = tf.where(pad[:, None, :], -np.inf, scores)
    weights = tf.nn.softmax(scores)
    return tf.matmul(weights, x)


@tf.function
def train_step(x, pad):
    with tf.GradientTape() as tape:
        out = attend(x, pad)
        loss = tf.reduce_mean(tf.square(out - x))
    grads = tape.gradient(loss, [wq, wk])
    optimizer.apply_gradients(zip(grads, [wq, wk]))
    return loss


for _ in range(4):
    print(train_step(tf.constant(tokens), tf.constant(padding)).numpy())
