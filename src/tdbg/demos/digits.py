"""A digit classifier written with TensorFlow's low-level API. Its accuracy gets stuck near chance after a few steps.

The images are drawn on the spot: digits of a small font, shifted, scaled and with noise.
"""

import numpy as np
import tensorflow as tf

FONT = [
    "01110 10001 10011 10101 11001 10001 01110", "00100 01100 00100 00100 00100 00100 01110",
    "01110 10001 00001 00110 01000 10000 11111", "01110 10001 00001 00110 00001 10001 01110",
    "00010 00110 01010 10010 11111 00010 00010", "11111 10000 11110 00001 00001 10001 01110",
    "00110 01000 10000 11110 10001 10001 01110", "11111 00001 00010 00100 01000 01000 01000",
    "01110 10001 10001 01110 10001 10001 01110", "01110 10001 10001 01111 00001 00010 01100",
]  # fmt: skip
GLYPHS = np.array([[[int(c) for c in row] for row in glyph.split()] for glyph in FONT], np.float32)


def draw_digits(count, seed):
    """(images of 28 by 28, labels)"""
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    images = random.normal(0.0, 0.15, (count, 28, 28)).astype(np.float32)
    for image, label in zip(images, labels):
        glyph = np.kron(GLYPHS[label], np.ones((3, 3), np.float32))
        top, left = random.integers(0, 8), random.integers(0, 14)
        image[top : top + 21, left : left + 15] += glyph * random.uniform(0.6, 1.0)
    return images.reshape(count, 784), labels


class Dense:
    def __init__(self, inputs, outputs, seed):
        self.kernel = tf.Variable(tf.random.normal([inputs, outputs], stddev=0.3, seed=seed), name="kernel")
        self.bias = tf.Variable(tf.zeros([outputs]), name="bias")

    def __call__(self, x):
        return tf.matmul(x, self.kernel) + self.bias


hidden, output = Dense(784, 128, seed=1), Dense(128, 10, seed=2)
variables = [hidden.kernel, hidden.bias, output.kernel, output.bias]
optimizer = tf.keras.optimizers.Adam(learning_rate=0.1)


@tf.function
def model(images):
    return tf.nn.softmax(output(tf.nn.relu(hidden(images))))


@tf.function
def loss_of(probabilities, labels):
    return tf.reduce_mean(-tf.reduce_sum(labels * tf.math.log(probabilities), axis=1))


def train_step(images, labels):
    with tf.GradientTape() as tape:
        loss = loss_of(model(images), labels)
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


def main():
    images, labels = draw_digits(4000, seed=0)
    test_images, test_labels = draw_digits(1000, seed=1)
    for step in range(20):
        batch = slice(step * 200, step * 200 + 200)
        train_step(tf.constant(images[batch]), tf.one_hot(labels[batch], 10))
        guesses = tf.argmax(model(tf.constant(test_images)), axis=1)
        print(f"accuracy at step {step}: {np.mean(guesses.numpy() == test_labels):.3f}")


main()
