"""Keras 2 on a Session: the debugger wraps the Session that the Keras backend runs on.

python -m tdbg.examples.debug_keras                          the loss is NaN
python -m tdbg.examples.debug_keras --debug                  run -f has_inf_or_nan
"""

import sys

import numpy as np
import tensorflow.compat.v1 as tf

from tdbg.examples.debugger_options import make_parser, wrap_session

NEEDED = "this example needs Keras 2, which knows Sessions: pip install tf_keras, of the version of your TensorFlow"


def poisson_loss(counts, rates):
    return tf.reduce_mean(rates - counts * tf.log(rates))  # BUG: nothing keeps a rate above 0


def main():
    parser = make_parser("A Keras model with a loss of its own.")
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()
    try:
        from tf_keras.api._v1 import keras
    except ImportError:
        sys.exit(NEEDED)
    tf.disable_eager_execution()

    random = np.random.default_rng(3)
    inputs = random.normal(size=[256, 8]).astype(np.float32)
    counts = random.poisson(np.exp(0.5 * inputs[:, :1])).astype(np.float32)

    keras.backend.set_session(wrap_session(tf.Session(), args))
    weights = [keras.initializers.glorot_uniform(seed) for seed in (1, 2)]  # the same in every run
    hidden = keras.layers.Dense(16, activation="relu", input_shape=[8], kernel_initializer=weights[0])
    model = keras.Sequential([hidden, keras.layers.Dense(1, kernel_initializer=weights[1])])
    model.compile(optimizer="sgd", loss=poisson_loss)
    history = model.fit(inputs, counts, batch_size=64, epochs=args.epochs, shuffle=False, verbose=0)
    print("loss:", *history.history["loss"])


if __name__ == "__main__":
    main()
