"""Headings of displacement vectors; one vehicle does not move."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(67)
moves = rng.normal(size=(12, 2)).astype(np.float32)
moves[6] = 0
turn = tf.Variable(tf.eye(2))


@tf.function
def train_step(steps):
    with tf.GradientTape() as tape:
        turned = steps @ turn
        heading = tf.atan2(turned[:, 1], turned[:, 0])
        loss = tf.reduce_mean(tf.square(heading))
    turn.assign_sub(0.1 * tape.gradient(loss, turn))
    return loss


for _ in range(2):
    print(train_step(tf.constant(moves)).numpy())
