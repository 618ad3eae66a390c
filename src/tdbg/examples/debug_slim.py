"""tf-slim: training takes the debugger as a wrapper of Sessions, evaluation as a hook.

python -m tdbg.examples.debug_slim                           loss and mean error are NaN
python -m tdbg.examples.debug_slim --debug                   run -f has_inf_or_nan
"""

import sys
import tempfile
import warnings
from functools import partial
from pathlib import Path

import numpy as np
import tensorflow.compat.v1 as tf

from tdbg.examples.debugger_options import make_hooks, make_parser, wrap_session

NEEDED = "this example needs tf-slim: pip install tf_slim"


def scale(x):
    centred = x - tf.reduce_mean(x, axis=0)
    return centred / tf.math.reduce_std(x, axis=0)  # BUG: 0/0 where a column is constant


def predict(slim):
    """(targets, predictions): the graph that training and evaluation share."""
    random = np.random.default_rng(4)
    features = random.normal(size=[64, 4]).astype(np.float32)
    features[:, 2] = 3.0  # a sensor that was never connected
    inputs = tf.Variable(features, trainable=False, name="features")
    targets = tf.reduce_sum(inputs, axis=1, keepdims=True)
    return targets, slim.fully_connected(scale(inputs), 1, activation_fn=None)


def main():
    parser = make_parser("Linear regression with tf-slim.")
    parser.add_argument("--number_of_steps", type=int, default=5)
    args = parser.parse_args()
    try:
        import tf_slim as slim
    except ImportError:
        sys.exit(NEEDED)
    tf.disable_eager_execution()
    tf.logging.set_verbosity(tf.logging.ERROR)
    warnings.filterwarnings("ignore", category=UserWarning, module="tensorflow")  # tf-slim uses what is deprecated
    with tempfile.TemporaryDirectory() as folder:
        train(slim, args, folder)
        evaluate(slim, args, folder)


def train(slim, args, folder):
    with tf.Graph().as_default():
        loss = tf.losses.mean_squared_error(*predict(slim))
        optimizer = tf.train.GradientDescentOptimizer(0.1)
        train_op = slim.learning.create_train_op(loss, optimizer, check_numerics=False)
        last = slim.learning.train(
            train_op,
            folder,
            number_of_steps=args.number_of_steps,
            log_every_n_steps=args.number_of_steps,
            session_wrapper=partial(wrap_session, args=part_of(args, "train")),
        )
        print("loss:", last)


def evaluate(slim, args, folder):
    with tf.Graph().as_default():
        error, update = tf.metrics.mean_absolute_error(*predict(slim))
        final = slim.evaluation.evaluate_once(
            "",
            tf.train.latest_checkpoint(folder),
            folder,
            num_evals=1,
            eval_op=update,
            final_op=error,
            hooks=make_hooks(part_of(args, "evaluate")),
        )
        print("mean error:", final)


def part_of(args, name):
    """Training and evaluation dump into folders of their own."""
    if args.dump_dir:
        return type(args)(**(vars(args) | {"dump_dir": str(Path(args.dump_dir) / name)}))
    return args


if __name__ == "__main__":
    main()
