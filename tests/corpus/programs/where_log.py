"""The entropy of probabilities, with zeros left out by tf.where."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(46)
logits = tf.Variable(rng.normal(size=(10, 4)).astype(np.float32))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        p = tf.nn.relu(logits)
        p = p / (tf.reduce_sum(p, axis=1, keepdims=True) + 1.0)
        logs = tf.math.log(p)
        terms = tf.where(p > 0, p * logs, tf.zeros_like(p))
        loss = tf.reduce_sum(terms)
    logits.assign_sub(0.1 * tape.gradient(loss, logits))
    return loss


for _ in range(3):
    print(train_step().numpy())
