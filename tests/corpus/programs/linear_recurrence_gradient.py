"""A linear recurrence that starts at rest: the state stays zero, its sensitivity does not."""

import tensorflow as tf

recurrent = tf.Variable(tf.eye(4) * 3.0)
inject = tf.Variable(tf.zeros([4]))


@tf.function
def train_step(steps):
    with tf.GradientTape() as tape:
        state = tf.zeros([1, 4])
        for _ in tf.range(steps):
            state = tf.matmul(state, recurrent) + inject
        loss = tf.reduce_sum(state) + 1.0
    grads = tape.gradient(loss, [recurrent, inject])
    recurrent.assign_sub(0.01 * grads[0])
    inject.assign_sub(0.01 * grads[1])
    return loss


print(train_step(tf.constant(100)).numpy())
print(inject.numpy())
