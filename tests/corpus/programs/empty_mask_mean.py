"""A detection loss averages over the positive boxes of each batch."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(16)
w = tf.Variable(tf.random.stateless_normal([6, 4], seed=[4, 4]) * 0.1)


@tf.function
def train_step(features, boxes, positive):
    with tf.GradientTape() as tape:
        predicted = features @ w
        error = tf.abs(predicted - boxes)
        kept = tf.boolean_mask(error, positive)
        loss = tf.reduce_mean(kept)
    w.assign_sub(0.05 * tape.gradient(loss, w))
    return loss


for step in range(6):
    features = rng.normal(size=(10, 6)).astype(np.float32)
    boxes = rng.normal(size=(10, 4)).astype(np.float32)
    positive = np.zeros(10, bool) if step == 3 else rng.random(10) < 0.5
    print(step, train_step(tf.constant(features), tf.constant(boxes), tf.constant(positive)).numpy())
