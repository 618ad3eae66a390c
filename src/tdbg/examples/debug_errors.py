"""Two programs that TensorFlow stops with an error, to see what the debugger shows of it.

python -m tdbg.examples.debug_errors --error shape_mismatch --debug
python -m tdbg.examples.debug_errors --error uninitialized_variable --debug
"""

import numpy as np
import tensorflow.compat.v1 as tf

from tdbg.examples.debugger_options import make_parser, wrap_session


def multiply_wrong_shapes(session):
    m = tf.placeholder(tf.float32, name="m")
    v = tf.placeholder(tf.float32, name="v")
    product = tf.matmul(m, v, name="product")  # BUG: 3 columns meet 2 rows
    session.run(product, {m: np.ones([2, 3]), v: np.ones([2, 1])})


def read_uninitialized_variable(session):
    v = tf.Variable([3.0, 4.0], name="v")
    doubled = tf.multiply(v, 2.0, name="doubled")
    session.run(doubled)  # BUG: nobody ran v.initializer


ERRORS = {"shape_mismatch": multiply_wrong_shapes, "uninitialized_variable": read_uninitialized_variable}


def main():
    parser = make_parser("A Session.run() that ends with an error of TensorFlow.")
    parser.add_argument("--error", choices=ERRORS, required=True, help="which error to make")
    args = parser.parse_args()
    tf.disable_eager_execution()
    with tf.Session() as session:
        ERRORS[args.error](wrap_session(session, args))


if __name__ == "__main__":
    main()
