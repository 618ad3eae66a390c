"""A digit classifier in a Session of TensorFlow 1: accuracy rises once, then it is stuck near chance.

python -m tdbg.examples.debug_mnist                          see it
python -m tdbg.examples.debug_mnist --debug                  look for it at a prompt: run -f has_inf_or_nan
python -m tdbg.examples.debug_mnist --dump_dir DIR           write all tensors to files
tdbg run -m tdbg.examples.debug_mnist                        be told the line
"""

import tensorflow.compat.v1 as tf

from tdbg.examples.data import draw_digits
from tdbg.examples.debugger_options import make_parser, wrap_session

CLASSES, PIXELS, HIDDEN = 10, 784, 500


def layer(inputs, size, name, activation):
    with tf.name_scope(name):
        start = tf.truncated_normal([int(inputs.shape[1]), size], stddev=0.1, seed=size)
        weights = tf.Variable(start, name="weights")
        biases = tf.Variable(tf.constant(0.1, shape=[size]), name="biases")
        return activation(tf.matmul(inputs, weights) + biases)


def main():
    parser = make_parser("A digit classifier whose accuracy gets stuck near chance.")
    parser.add_argument("--max_steps", type=int, default=10)
    parser.add_argument("--train_batch_size", type=int, default=100)
    parser.add_argument("--learning_rate", type=float, default=0.05)
    args = parser.parse_args()
    tf.disable_eager_execution()

    images, labels = draw_digits(args.max_steps * args.train_batch_size, seed=1)
    test_images, test_labels = draw_digits(1000, seed=2)

    xs = tf.placeholder(tf.float32, [None, PIXELS], name="input_xs")
    ys = tf.placeholder(tf.int64, [None], name="input_ys")
    hidden = layer(xs, HIDDEN, "hidden", tf.nn.relu)
    logits = layer(hidden, CLASSES, "output", tf.identity)
    y = tf.nn.softmax(logits)
    with tf.name_scope("cross_entropy"):
        diff = -(tf.one_hot(ys, CLASSES) * tf.log(y))  # BUG: where the softmax underflows this is log(0)
        with tf.name_scope("total"):
            loss = tf.reduce_mean(diff)
    with tf.name_scope("train"):
        train_step = tf.train.AdamOptimizer(args.learning_rate).minimize(loss)
    with tf.name_scope("accuracy"):
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y, 1), ys), tf.float32))

    with tf.Session() as plain:
        plain.run(tf.global_variables_initializer())
        session = wrap_session(plain, args)
        for step in range(args.max_steps):
            score = session.run(accuracy, {xs: test_images, ys: test_labels})
            print(f"Accuracy at step {step}: {score:.4g}", flush=True)
            batch = slice(step * args.train_batch_size, (step + 1) * args.train_batch_size)
            session.run(train_step, {xs: images[batch], ys: labels[batch]})


if __name__ == "__main__":
    main()
