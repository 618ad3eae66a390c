"""A recurrent state is advanced with tf.while_loop."""

import tensorflow as tf

a = tf.Variable(tf.eye(4) * 2.5)


@tf.function
def simulate(state, steps):
    def advance(i, s):
        mixed = tf.matmul(s, a)
        return i + 1, mixed * (1.0 + 0.1 * tf.cast(i, tf.float32))

    _, last = tf.while_loop(lambda i, s: i < steps, advance, [0, state])
    return tf.reduce_mean(last)


for steps in (10, 20, 80):
    print(steps, simulate(tf.ones([2, 4]), steps).numpy())
