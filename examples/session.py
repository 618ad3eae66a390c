"""A classifier in TensorFlow 1's way: a graph, placeholders and a Session. The loss is written by hand, and takes the
logarithm of probabilities that have become exactly 0."""

import numpy as np
import tensorflow as tf

v1 = tf.compat.v1
rng = np.random.default_rng(7)
points = rng.normal(size=(64, 4)).astype(np.float32)
classes = np.eye(3, dtype=np.float32)[rng.integers(0, 3, 64)]
initial = rng.normal(scale=60.0, size=(4, 3)).astype(np.float32)

with tf.Graph().as_default(), v1.Session() as session:
    x = v1.placeholder(tf.float32, [None, 4], name="x")
    y = v1.placeholder(tf.float32, [None, 3], name="y")
    weights = v1.get_variable("weights", initializer=initial)
    probabilities = tf.nn.softmax(tf.matmul(x, weights), name="probabilities")
    loss = -tf.reduce_mean(y * tf.math.log(probabilities))  # BUG: log(0)
    train = v1.train.GradientDescentOptimizer(0.1).minimize(loss)

    session.run(v1.global_variables_initializer())
    for step in range(5):
        _, now = session.run([train, loss], {x: points, y: classes})
        print(f"step {step}: loss {now:.4f}")
