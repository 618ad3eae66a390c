"""The condition number of a kernel as a penalty; the kernel has rank one."""

import tensorflow as tf

kernel = tf.Variable(tf.ones([4, 4]) * 2.0)

for step in range(2):
    with tf.GradientTape() as tape:
        s = tf.linalg.svd(kernel, compute_uv=False)
        smallest = tf.nn.relu(s[-1] - 1e-5)
        condition = s[0] / smallest
        loss = tf.math.log1p(condition)
    gradient = tape.gradient(loss, kernel)
    kernel.assign_sub(0.1 * gradient)
    print(step, loss.numpy())
