"""Q-learning with a target network that is copied now and then, and not yet for the second time."""

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(101)
rng = np.random.default_rng(101)


def network():
    layers = tf.keras.layers
    return tf.keras.Sequential([layers.Input((4,)), layers.Dense(16, activation="tanh"), layers.Dense(2)])


online, target = network(), network()
target.set_weights(online.get_weights())
optimizer = tf.keras.optimizers.Adam(1e-3)


@tf.function
def train_step(state, action, reward, following):
    with tf.GradientTape() as tape:
        best = tf.reduce_max(target(following), axis=1)
        chosen = tf.reduce_sum(online(state) * tf.one_hot(action, 2), axis=1)
        loss = tf.reduce_mean(tf.square(reward + 0.9 * best - chosen))
    gradients = tape.gradient(loss, online.trainable_variables)
    optimizer.apply_gradients(zip(gradients, online.trainable_variables))
    return loss


for _ in range(40):
    state = rng.normal(size=(32, 4)).astype("float32")
    following = rng.normal(size=(32, 4)).astype("float32")
    reward = state[:, 0]
    train_step(tf.constant(state), tf.constant(rng.integers(0, 2, 32)), tf.constant(reward), tf.constant(following))
