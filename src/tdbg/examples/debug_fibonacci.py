"""Fibonacci numbers in int32, which overflow without a word: a debugger with a tensor filter finds where.

python -m tdbg.examples.debug_fibonacci                      the last number is negative
python -m tdbg.examples.debug_fibonacci --debug              run -f has_negative
"""

import numpy as np
import tensorflow.compat.v1 as tf

from tdbg.examples.debugger_options import make_parser, wrap_session


def has_negative(datum, tensor):
    """A tensor filter: true of int32 tensors with an element below 0."""
    return getattr(tensor, "dtype", None) == np.int32 and bool(np.any(tensor < 0))


def main():
    parser = make_parser("Fibonacci numbers as a graph of additions.")
    parser.add_argument("--length", type=int, default=50, help="how many numbers")
    parser.add_argument("--tensor_size", type=int, default=1, help="each number is a square tensor of this size")
    args = parser.parse_args()
    if args.length < 2 or args.tensor_size < 1:
        parser.error("--length is 2 or more and --tensor_size 1 or more")
    tf.disable_eager_execution()

    ones = np.ones([args.tensor_size, args.tensor_size], np.int32)
    before, number = tf.Variable(ones, name="number_01"), tf.Variable(ones, name="number_02")
    for n in range(3, args.length + 1):
        before, number = number, tf.add(before, number, name=f"number_{n:02d}")  # BUG: int32 ends at the 46th

    with tf.Session() as plain:
        plain.run(tf.global_variables_initializer())
        session = wrap_session(plain, args, has_negative=has_negative)
        print(f"Fibonacci number {args.length}: {session.run(number)[0, 0]}")


if __name__ == "__main__":
    main()
