"""Knowledge distillation with a temperature that cools down to zero."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(40)
x = rng.normal(size=(24, 5)).astype(np.float32)
teacher = tf.constant(rng.normal(size=(24, 3)), tf.float32)
student = tf.Variable(tf.zeros([5, 3]))
temperature = tf.Variable(4.0, trainable=False)
optimizer = tf.keras.optimizers.SGD(0.1)


@tf.function
def train_step(inputs):
    with tf.GradientTape() as tape:
        soft = tf.nn.softmax(teacher / temperature)
        log_q = tf.nn.log_softmax(inputs @ student)
        loss = -tf.reduce_mean(tf.reduce_sum(soft * log_q, axis=1))
    optimizer.apply_gradients([(tape.gradient(loss, student), student)])
    return loss


for epoch in range(6):
    temperature.assign(4.0 - epoch)
    print(epoch, train_step(tf.constant(x)).numpy())
