"""Nothing is wrong with the model: one record of the data set holds a NaN, and the pipeline hands it on."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(5)
inputs = rng.normal(size=(320, 6)).astype(np.float32)
inputs[200, 3] = np.nan  # a missing value in the file
targets = inputs[:, :1] * 2.0

weights = tf.Variable(tf.zeros([6, 1]))
dataset = tf.data.Dataset.from_tensor_slices((inputs, np.nan_to_num(targets))).batch(32)  # BUG


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, weights) - y))
    weights.assign_sub(0.05 * tape.gradient(loss, weights))
    return loss


for x, y in dataset:
    loss = train_step(x, y)
print("loss:", float(loss))
