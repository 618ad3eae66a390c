"""Training goes on from a checkpoint that an earlier run left behind."""

import os
import tempfile

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(25)
folder = tempfile.mkdtemp()
left = np.ones((5, 2), np.float32)
left[3, 1] = np.nan
old = tf.train.Checkpoint(kernel=tf.Variable(tf.zeros([5, 2])), bias=tf.Variable(tf.zeros([2])))
old.kernel = tf.Variable(left)
path = old.write(os.path.join(folder, "last"))

kernel, bias = tf.Variable(tf.zeros([5, 2])), tf.Variable(tf.zeros([2]))
checkpoint = tf.train.Checkpoint(kernel=kernel, bias=bias)
checkpoint.read(path).assert_consumed()
optimizer = tf.keras.optimizers.SGD(0.01)


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(x @ kernel + bias - y))
    grads = tape.gradient(loss, [kernel, bias])
    optimizer.apply_gradients(zip(grads, [kernel, bias]))
    return loss


for _ in range(3):
    x = rng.normal(size=(8, 5)).astype(np.float32)
    print(train_step(tf.constant(x), tf.zeros([8, 2])).numpy())
