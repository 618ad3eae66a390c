"""The program of the Debugger V2 tutorial, rebuilt: a digit classifier in low-level TensorFlow whose accuracy gets
stuck near chance. Its digits are drawn on the spot, as on a pocket calculator. `--fix` tries the tutorial's repair and
others; `--dump_dir` records with `enable_dump_debug_info`. docs/debugger_v2.md tells the story."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--fix", choices=["none", "after", "before", "logits"], default="none")
parser.add_argument("--dump_dir")
parser.add_argument("--steps", type=int, default=20)
arguments, _ = parser.parse_known_args()

if arguments.dump_dir:
    from tdbg.tensorflow import enable_dump_debug_info

    enable_dump_debug_info(logdir=arguments.dump_dir, tensor_debug_mode="FULL_HEALTH", circular_buffer_size=-1)

# Rows and columns of the seven segments of a digit, and which of them light up.
SEGMENTS = [
    (slice(2, 5), slice(6, 18)), (slice(2, 14), slice(16, 19)), (slice(12, 26), slice(16, 19)),
    (slice(23, 26), slice(6, 18)), (slice(12, 26), slice(5, 8)), (slice(2, 14), slice(5, 8)),
    (slice(12, 15), slice(6, 18)),
]  # fmt: skip
LIT = ["012345", "12", "01346", "01236", "1256", "02356", "023456", "012", "0123456", "012356"]


def draw_digits(count, seed):
    random = np.random.default_rng(seed)
    labels = random.integers(0, 10, count)
    images = random.normal(0.0, 0.3, (count, 28, 28)).astype(np.float32)
    for image, label in zip(images, labels):
        right = random.integers(0, 8)
        for segment in LIT[label]:
            rows, columns = SEGMENTS[int(segment)]
            image[rows, columns.start + right : columns.stop + right] += random.uniform(0.5, 1.0)
    return images.reshape(count, 784), labels


class Dense:
    def __init__(self, inputs, outputs, seed):
        self.kernel = tf.Variable(tf.random.normal([inputs, outputs], stddev=0.3, seed=seed), name="kernel")
        self.bias = tf.Variable(tf.zeros([outputs]), name="bias")

    def __call__(self, x):
        return tf.matmul(x, self.kernel) + self.bias


tf.random.set_seed(5)
hidden, output = Dense(784, 64, seed=1), Dense(64, 10, seed=2)
variables = [hidden.kernel, hidden.bias, output.kernel, output.bias]
optimizer = tf.keras.optimizers.Adam(learning_rate=0.05)


@tf.function
def model(images):
    logits = output(tf.nn.relu(hidden(images)))
    return logits, tf.nn.softmax(logits)


@tf.function
def cross_entropy(logits, probabilities, labels):
    if arguments.fix == "none":
        losses = -(labels * tf.math.log(probabilities))  # BUG: a probability can be 0
    elif arguments.fix == "after":
        losses = -(labels * tf.clip_by_value(tf.math.log(probabilities), 1e-6, 1.0))  # the tutorial's repair
    elif arguments.fix == "before":
        losses = -(labels * tf.math.log(tf.clip_by_value(probabilities, 1e-6, 1.0)))
    else:
        losses = tf.nn.softmax_cross_entropy_with_logits(labels, logits)
    return tf.reduce_mean(losses)


images, digits = draw_digits(2000, seed=0)
test_images, test_digits = draw_digits(500, seed=1)
for step in range(arguments.steps):
    batch = slice(step * 200 % 2000, step * 200 % 2000 + 200)
    with tf.GradientTape() as tape:
        loss = cross_entropy(*model(tf.constant(images[batch])), tf.one_hot(digits[batch], 10))
    optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    guesses = tf.argmax(model(tf.constant(test_images))[1], axis=1).numpy()
    print(f"accuracy at step {step}: {np.mean(guesses == test_digits):.3f} loss: {loss:.3g}")
print("weights:", "all finite" if all(np.isfinite(v).all() for v in variables) else "not finite any more")
