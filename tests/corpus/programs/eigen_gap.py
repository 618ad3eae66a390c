"""Perturbation theory with the eigenvalues of a covariance that starts at the identity."""

import tensorflow as tf

root = tf.Variable(tf.eye(3))


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        covariance = tf.matmul(root, root, transpose_b=True)
        values = tf.linalg.eigvalsh(covariance)
        gaps = values[1:] - values[:-1]
        coupling = 0.1 / gaps
        loss = tf.reduce_sum(coupling)
    gradient = tape.gradient(loss, root)
    root.assign_sub(0.1 * gradient)
    return loss


for _ in range(2):
    print(train_step().numpy())
