"""An Estimator that learns three kinds of flowers; it makes its Sessions itself, so the debugger comes in as a hook.

    python -m tdbg.examples.debug_estimator_iris                 accuracy near 0.9
    python -m tdbg.examples.debug_estimator_iris --debug         a prompt at each run of training and evaluation
    python -m tdbg.examples.debug_estimator_iris --dirty_data    a NaN among the measures: training is stopped

(A ReLU that oneDNN has fused makes 0 of NaN; there training goes on.)

The flowers are made up: normal distributions that look like the iris data. ``--use_experiment`` trains and evaluates
through ``tf.estimator.train_and_evaluate``, which took the place of Experiment.
"""

import sys
import tempfile

import numpy as np
import tensorflow.compat.v1 as tf

from tdbg.examples.data import grow_flowers
from tdbg.examples.debugger_options import make_hooks, make_parser

NEEDED = "this example needs tf.estimator, which TensorFlow 2.15 has: pip install 'tensorflow==2.15.*' (Python 3.11)"


def flowers(count, seed, dirty, repeat=False):
    """An input_fn of batches of flowers."""

    def input_fn():
        measures, kinds = grow_flowers(count, seed)
        if dirty:
            measures[count // 2, 1] = np.nan  # BUG: the sepal's width was never measured
        data = tf.data.Dataset.from_tensor_slices(({"measures": measures}, kinds))
        return (data.repeat() if repeat else data).batch(32)

    return input_fn


def main():
    parser = make_parser("An Estimator that learns flowers.")
    parser.add_argument("--model_dir", help="where checkpoints go (default: a new folder that is removed)")
    parser.add_argument("--train_steps", type=int, default=100)
    parser.add_argument("--use_experiment", action="store_true", help="through train_and_evaluate")
    parser.add_argument("--dirty_data", action="store_true", help="with a NaN among the measures")
    args = parser.parse_args()
    if not hasattr(tf, "estimator"):
        sys.exit(NEEDED)
    tf.logging.set_verbosity(tf.logging.ERROR)
    with tempfile.TemporaryDirectory() as folder:
        learn(args, args.model_dir or folder)


def learn(args, model_dir):
    classifier = tf.estimator.DNNClassifier(
        feature_columns=[tf.feature_column.numeric_column("measures", shape=[4])],
        hidden_units=[10, 20, 10],
        optimizer=tf.train.AdamOptimizer(0.01),
        n_classes=3,
        model_dir=model_dir,
        config=tf.estimator.RunConfig(tf_random_seed=5),
    )
    hooks = make_hooks(args)
    train, test = flowers(120, 1, args.dirty_data, repeat=True), flowers(30, 2, False)
    if args.use_experiment:
        score, _ = tf.estimator.train_and_evaluate(
            classifier,
            tf.estimator.TrainSpec(train, max_steps=args.train_steps, hooks=hooks),
            tf.estimator.EvalSpec(test, steps=1, hooks=hooks),
        )
    else:
        classifier.train(train, steps=args.train_steps, hooks=hooks)
        score = classifier.evaluate(test, steps=1, hooks=hooks)
    print(f"After training {args.train_steps} steps, accuracy = {score['accuracy']:.3f}")


if __name__ == "__main__":
    main()
