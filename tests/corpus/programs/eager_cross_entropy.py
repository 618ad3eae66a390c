"""Softmax regression in an eager loop, with the cross entropy written out."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(0)
x = rng.normal(size=(128, 20)).astype(np.float32) * 30
y = np.eye(5, dtype=np.float32)[rng.integers(0, 5, 128)]
w = tf.Variable(tf.random.stateless_normal([20, 5], seed=[1, 2]))
optimizer = tf.keras.optimizers.SGD(0.5)

for epoch in range(3):
    for i in range(0, 128, 32):
        with tf.GradientTape() as tape:
            p = tf.nn.softmax(x[i : i + 32] @ w)
            loss = -tf.reduce_mean(tf.reduce_sum(y[i : i + 32] * tf.math.log(p), axis=1))
        grads = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(grads, [w]))
    print(epoch, float(loss))
