"""A warm-up branch of tf.cond divides by the number of steps so far."""

import tensorflow as tf

w = tf.Variable([1.0, 2.0, 3.0])
count = tf.Variable(0.0)


@tf.function
def train_step(x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.square(w * x))
    gradient = tape.gradient(loss, w)

    def warm():
        portion = count / (count * 10.0)
        return gradient * portion

    change = tf.cond(count < 5.0, warm, lambda: gradient * 0.1)
    w.assign_sub(change)
    count.assign_add(1.0)
    return loss


for _ in range(4):
    print(train_step(tf.constant([0.1, 0.2, 0.3])).numpy())
