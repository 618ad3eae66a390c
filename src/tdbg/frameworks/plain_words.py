"""Says in plain words what a function does that a framework does not have."""

from __future__ import annotations

# What is meant -> the words for the function alone, and those with its arguments.
_WORDS = {
    "maximum": ("the greater of two numbers", "the greater of {0} and {1}"),
    "where": ("a where", "{1} where {0}, else {2}"),
    "divide_no_nan": ("a division that is guarded against 0", "{0} / {1}, guarded against 0"),
    "reciprocal_no_nan": ("a reciprocal that is guarded against 0", "1 / {0}, guarded against 0"),
    "l2_normalize": ("a normalisation to length 1", "a normalisation of {0} to length 1"),
    "softmax_cross_entropy": ("a cross entropy that takes logits", "the cross entropy of logits {0}"),
    "sigmoid_cross_entropy": ("a binary cross entropy that takes logits", "the binary cross entropy of logits {0}"),
    "slogdet": ("a function for the logarithm of the determinant", "the logarithm of the determinant of {0}"),
    "logdet": ("a function for the logarithm of the determinant", "the logarithm of the determinant of {0}"),
    "eye": ("the identity", "I"),
    "stop_gradient": ("no gradient", "{0} without a gradient"),
    "check_finite": ("a test for NaN and infinities", "a test of {0} for NaN and infinities"),
}


def in_plain_words(what: str, arguments: tuple[str, ...]) -> str:
    alone, called = _WORDS.get(what, (what, f"{what}({', '.join(filter(None, arguments))})"))
    return called.format(*arguments) if arguments else alone
