"""A bias that was meant to make a layer sparse kills it: no value is ever bad, and nothing but the mean is learned."""

import sys

import numpy as np
import tensorflow as tf

rate = float(sys.argv[1]) if len(sys.argv) > 1 else 0.1
rng = np.random.default_rng(3)
x = rng.normal(size=(128, 8)).astype(np.float32)
y = np.maximum(x[:, :1], 0) + 1
hidden = tf.Variable(tf.random.stateless_normal([8, 16], seed=[1, 2]) * 0.3)
bias = tf.Variable(tf.fill([16], -8.0))
output = tf.Variable(tf.random.stateless_normal([16, 1], seed=[3, 4]) * 0.3)
offset = tf.Variable([0.0])
variables = [hidden, bias, output, offset]


@tf.function
def train_step():
    with tf.GradientTape() as tape:
        activity = tf.nn.relu(x @ hidden + bias)
        loss = tf.reduce_mean(tf.square(activity @ output + offset - y))
    for variable, gradient in zip(variables, tape.gradient(loss, variables)):
        variable.assign_sub(rate * gradient)
    return loss


for step in range(20):
    loss = train_step()
print("loss:", float(loss))
