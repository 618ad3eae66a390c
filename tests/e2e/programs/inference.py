"""A graph that a Session only evaluates: eight runs of two kinds, and no training step. The sixth is fed a negative
number."""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
with tf.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [3], name="x")
    scaled = tf.multiply(x, 2.0, name="scaled")
    logs = tf.math.log(scaled, name="logs")
    for run in range(4):
        session.run(scaled, {x: np.full(3, run, np.float32)})
        session.run(logs, {x: np.array([1, 2, -1 if run == 2 else 3], np.float32)})
