"""Sampling from a language model: all but the best tokens get minus infinity."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(106)
table = tf.constant(rng.normal(size=(20, 20)), tf.float32)


@tf.function
def next_token(token, seed):
    logits = tf.gather(table, token)
    best = tf.math.top_k(logits, 5).values[:, -1:]
    kept = tf.where(logits < best, float("-inf"), logits)
    return tf.random.stateless_categorical(kept, 1, seed=seed)[:, 0]


token = tf.constant([0, 1, 2], tf.int64)
for position in range(10):
    token = next_token(token, tf.constant([position, 1]))
print(token.numpy())
