"""RMSprop written by hand."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(31)
x = rng.normal(size=(40, 6)).astype(np.float32)
x[:, 2] = 0
w = tf.Variable(tf.ones([6, 1]))
seen = tf.Variable(tf.zeros([6, 1]))

for step in range(4):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.constant(x) @ w))
    gradient = tape.gradient(loss, w)
    seen.assign(0.9 * seen + 0.1 * gradient**2)
    change = gradient / tf.sqrt(seen)
    w.assign_sub(0.01 * change)
    print(step, loss.numpy())
