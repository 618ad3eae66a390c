"""A contrastive loss on distances. Two points of a batch are the same, so their distance is 0: the forward pass is
fine, but the slope of the square root at 0 is infinite, and only the gradient is NaN."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(3)
left = rng.normal(size=(64, 5)).astype(np.float32)
right = left + rng.normal(size=(64, 5)).astype(np.float32)
right[17] = left[17]  # a duplicate in the data set

projection = tf.Variable(tf.random.stateless_normal([5, 3], seed=[5, 6]))


@tf.function
def train_step(a, b):
    with tf.GradientTape() as tape:
        difference = tf.matmul(a, projection) - tf.matmul(b, projection)
        squared = tf.reduce_sum(difference * difference, axis=1)
        distance = tf.sqrt(squared)  # BUG: infinite slope at 0
        loss = tf.reduce_mean(distance)
    gradient = tape.gradient(loss, projection)
    projection.assign_sub(0.01 * gradient)
    return loss


for step in range(5):
    loss = train_step(tf.constant(left), tf.constant(right))
    print(f"step {step}: loss {float(loss):.4f}")
