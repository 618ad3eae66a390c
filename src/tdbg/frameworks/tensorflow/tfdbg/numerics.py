"""Stops the program at the op that makes NaN or infinity, with an InvalidArgumentError."""

from __future__ import annotations

from tdbg.capture.bad_value import Limits
from tdbg.frameworks.tensorflow import listener
from tdbg.frameworks.tensorflow.capture.checks import BadValueError

__all__ = ["BadValueError", "disable_check_numerics", "enable_check_numerics"]


def enable_check_numerics(stack_height_limit: int | None = 30, path_length_limit: int | None = 50) -> None:
    """From here on the program raises at the first op that makes NaN or infinity from good values: in eager code, in
    functions, gradients, Keras and data sets, on every thread. Nothing is written. The limits are those of the stack
    in the message: frames, and characters of a path; None for no limit."""
    listener.check(Limits(stack_height_limit, path_length_limit))


def disable_check_numerics() -> None:
    """The program goes on past bad values again; without enable_check_numerics() it does nothing."""
    listener.check(None)
