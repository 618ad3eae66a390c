"""Two processes train the same function on their own data. The second one meets a negative number in its third step; a
mask of both is filled with -inf, as it should be."""

import multiprocessing

import numpy as np
import tensorflow as tf


def train(index):
    weights = tf.Variable([1.0, 1.0, 1.0], name="weights")
    mask = tf.constant([True, True, False])

    @tf.function
    def train_step(values):
        with tf.GradientTape() as tape:
            attention = tf.nn.softmax(tf.where(mask, weights * values, -np.inf))
            loss = tf.reduce_sum(tf.math.log(weights * values) * attention)
        weights.assign_sub(0.01 * tape.gradient(loss, weights))
        return loss

    for step in range(4):
        train_step(tf.constant([1.0, 2.0, -3.0 if index == 1 and step == 2 else 3.0]))


if __name__ == "__main__":
    other = multiprocessing.get_context("spawn").Process(target=train, args=(1,))
    other.start()
    train(0)
    other.join()
