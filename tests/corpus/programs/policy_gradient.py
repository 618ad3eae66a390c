"""REINFORCE with probabilities of taken actions."""

import numpy as np
import tensorflow as tf

rng = np.random.default_rng(20)
states = rng.normal(0, 50, size=(40, 6)).astype(np.float32)
actions = rng.integers(0, 3, 40)
returns = rng.normal(size=40).astype(np.float32)
policy = tf.Variable(tf.random.stateless_normal([6, 3], seed=[2, 0]))
optimizer = tf.keras.optimizers.Adam(0.01)


@tf.function
def improve(s, a, r):
    with tf.GradientTape() as tape:
        probabilities = tf.nn.softmax(s @ policy)
        chosen = tf.gather(probabilities, a, batch_dims=1)
        log_chosen = tf.math.log(chosen)
        loss = -tf.reduce_mean(log_chosen * r)
    optimizer.apply_gradients([(tape.gradient(loss, policy), policy)])
    return loss


for episode in range(4):
    improve(tf.constant(states), tf.constant(actions), tf.constant(returns))
