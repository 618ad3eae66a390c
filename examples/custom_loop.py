"""A custom training loop in a tf.function whose cross entropy takes the log of a softmax. The learning rate is high;
after a few steps a wrong class gets probability exactly 0 and its log is -inf."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(1)
points = rng.normal(size=(600, 2)).astype(np.float32)
classes = (np.arctan2(points[:, 1], points[:, 0]) // (2 * np.pi / 3)).astype(int) + 2
labels = tf.one_hot(classes, 4)

w1 = tf.Variable(tf.random.stateless_normal([2, 32], seed=[1, 2]))
w2 = tf.Variable(tf.random.stateless_normal([32, 4], seed=[3, 4]))


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        hidden = tf.nn.relu(tf.matmul(x, w1))
        probabilities = tf.nn.softmax(tf.matmul(hidden, w2))
        log_likelihood = tf.math.log(probabilities)  # BUG: log(0) once the softmax underflows
        loss = -tf.reduce_mean(tf.reduce_sum(y * log_likelihood, axis=1))
    for variable, gradient in zip([w1, w2], tape.gradient(loss, [w1, w2])):
        variable.assign_sub(30.0 * gradient)
    return loss


for step in range(30):
    loss = train_step(tf.constant(points), labels)
print("loss:", float(loss))
