"""A small network with named layers. Its batches differ in size, one helper is traced anew for every number that it
gets, and a mask is filled with -inf, as it should be. The word it takes is the learning rate; with a second one it
casts to bfloat16 and back, takes the gradient of something else, too, and prints the logarithm of 0."""

import sys

import numpy as np
import tensorflow as tf

rate, has_more = float(sys.argv[1]), len(sys.argv) > 2
tf.keras.utils.set_random_seed(3)
model = tf.keras.Sequential(
    [tf.keras.layers.Dense(8, activation="relu", name="first"), tf.keras.layers.Dense(3, name="second")]
)
model.build((None, 5, 4))
mask = np.tril(np.ones((3, 3), bool))


@tf.function(input_signature=[tf.TensorSpec([None, 5, 4]), tf.TensorSpec([None, 5, 3])])
def train_step(inputs, wanted):
    with tf.GradientTape() as tape:
        outputs = model(inputs)
        if has_more:
            outputs = tf.cast(tf.cast(outputs, tf.bfloat16), tf.float32)
        attention = tf.nn.softmax(tf.where(mask, tf.matmul(outputs, outputs, transpose_a=True), -np.inf))
        loss = tf.reduce_mean(tf.square(tf.matmul(outputs, attention) - wanted))
    variables = model.trainable_variables
    for variable, gradient in zip(variables, tape.gradient(loss, variables), strict=True):
        variable.assign_sub(rate * gradient)
    return loss


@tf.function
def scaled(value, factor):
    return value * factor


random = np.random.default_rng(4)
for step in range(12):
    size = 6 if step % 4 < 3 else 2
    inputs = tf.constant(random.normal(size=(size, 5, 4)).astype(np.float32))
    loss = train_step(inputs, tf.zeros([size, 5, 3]))
    scaled(loss, step)
if has_more:
    with tf.GradientTape() as tape:
        penalty = tf.reduce_sum(tf.square(model.trainable_variables[0]))
    tape.gradient(penalty, model.trainable_variables[0])
    print("log:", tf.math.log(tf.zeros([2])))
print("loss:", float(loss))
