"""A Viterbi recursion in log space, where impossible transitions are minus infinity."""

import numpy as np
import tensorflow as tf

with np.errstate(divide="ignore"):
    transition = np.log(np.array([[0.7, 0.3, 0.0], [0.0, 0.6, 0.4], [0.2, 0.0, 0.8]], np.float32))
    start = np.log(np.array([1.0, 0.0, 0.0], np.float32))
emission = tf.constant(np.random.default_rng(109).normal(size=(12, 3)), tf.float32)


@tf.function
def viterbi(observed):
    score = tf.constant(start)
    for t in tf.range(12):
        score = tf.reduce_max(score[:, None] + transition, axis=0) + observed[t]
    return tf.reduce_max(score)


print(viterbi(emission).numpy())
