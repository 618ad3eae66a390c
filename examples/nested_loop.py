"""Nested tf.functions with a while loop: each training step runs a few Newton iterations for a square root. For an
input of zero the iteration divides by zero, some iterations in."""

import tensorflow as tf

scale = tf.Variable(1.5)


@tf.function
def newton_sqrt(a):
    guess = tf.ones_like(a)
    for _ in tf.range(160):
        guess = 0.5 * (guess + a / guess)  # BUG: guess halves down to 0 where a is 0
    return guess


@tf.function
def train_step(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(newton_sqrt(tf.abs(scale * x)) - y))
    scale.assign_sub(0.1 * tape.gradient(loss, scale))
    return loss


for step in range(6):
    values = tf.constant([4.0, 1.0, 9.0]) if step < 3 else tf.constant([4.0, 0.0, 9.0])
    loss = train_step(values, tf.sqrt(values))
print("loss:", float(loss))
