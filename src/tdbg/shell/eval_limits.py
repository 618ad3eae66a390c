"""Refuses, before it is done, whatever an expression of ``eval`` could do besides computing.

Sizes are bounded before arrays are made, integers by their bits. Texts may only name types and options, and be compared
with.
"""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.shell import numpy_words
from tdbg.shell.numpy_words import LinearAlgebra, Word

LARGEST = 1 << 27  # elements of any array on the way
_MOST_BITS, _MOST_ARGUMENTS = 4096, 4


def check_arguments(function: Word, args: list[Any], keywords: dict[str, Any]) -> None:
    if isinstance(function.function, np.ufunc) and len(args) > function.function.nin:
        raise TdbgError(f"np.{function.name} takes {function.function.nin} arrays")
    if len(args) > _MOST_ARGUMENTS:
        raise TdbgError(f"np.{function.name}: at most {_MOST_ARGUMENTS} arguments; name the others")
    for name in keywords:
        if name in _REFUSED or (name == "shape" and "like" in function.name):
            raise TdbgError(f"np.{function.name}: {name} cannot be used here")
    if "dtype" in keywords:
        check_type(keywords["dtype"])
    may_be_text = 0 if function.name == "astype" else 1 if function.name in _WITH_OPTIONS else len(args)
    texts = [one for one in args[:may_be_text] if isinstance(one, str | bytes)]
    texts += [name for name, one in keywords.items() if isinstance(one, str | bytes) and name not in _OPTIONS]
    if texts:
        raise TdbgError(f"np.{function.name}: text is not a number; it can only be compared")
    for one in [*args, *keywords.values()]:
        if isinstance(one, Word | LinearAlgebra):
            raise TdbgError("functions cannot be passed to functions here")
        if isinstance(one, np.ndarray) and one.dtype.kind not in "biufcV" and function.name not in _FOR_TEXTS:
            raise TdbgError("an array of text can be indexed, compared and counted, but not computed with")


_REFUSED = frozenset("out where axes signature like subok **".split())  # they write, or change what is bounded
_OPTIONS = frozenset("dtype order mode ord kind method side indexing casting".split())
_WITH_OPTIONS = frozenset("linalg.norm pad ones zeros empty array asarray".split())
_FOR_TEXTS = frozenset(
    "shape size ndim len reshape ravel flatten transpose squeeze unique equal not_equal concatenate".split()
)


def check_text(text: str) -> None:
    """Checks a text, which may name a type or an option; a type that is no number could have any size."""
    try:
        kind = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        return
    check_type(kind)


def check_type(given: Any) -> None:
    kind = np.dtype(given)
    if kind.kind not in "biufc" or kind.itemsize > 32:
        raise TdbgError(f"{given} is not a numeric type; use float32, int64 or the like")


def number(value: Any) -> Any:
    """Checks an operand of arithmetic, and gives it as something to compute with."""
    if isinstance(value, list | tuple):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "OSU":
        raise TdbgError("an array of text can be indexed, compared and counted, but not computed with")
    if not isinstance(value, np.ndarray | np.generic | int | float | complex):
        raise TdbgError(f"{type(value).__name__} is not a number; operators take numbers and arrays")
    return value


def check_integers(op: ast.operator, left: int, right: int) -> None:
    bits = max(left.bit_length(), right.bit_length()) + 1
    if isinstance(op, ast.Pow) and right > 0:
        bits = left.bit_length() * right
    elif isinstance(op, ast.LShift):
        bits = left.bit_length() + right
    elif isinstance(op, ast.Mult):
        bits = left.bit_length() + right.bit_length()
    check_bits(bits)


def check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TdbgError("this integer is too large; write it as a float, such as 10.0**10")


def check_size(elements: float) -> None:
    if elements > LARGEST:
        raise TdbgError(f"this would make {elements:,.0f} elements, and the limit is {LARGEST:,}; take slices first")


def size_of_part(whole: np.ndarray, index: Any) -> int:
    """Bounds the size of a part: what lists and arrays pick together, times the dimensions that they leave."""
    parts = [np.asarray(one) if isinstance(one, list) else one for one in _as_tuple(index) if one is not None]
    used = [one.ndim if _is_mask(one) else 0 if one is Ellipsis else 1 for one in parts]
    dims = list(whole.shape)
    left, chosen = 1, []
    for at, (one, count) in enumerate(zip(parts, used, strict=True)):
        skipped = dims[: max(0, len(dims) - sum(used[at + 1 :]))] if one is Ellipsis else []
        left *= math.prod(skipped)
        taken, dims = dims[len(skipped) : len(skipped) + count], dims[len(skipped) + count :]
        if isinstance(one, slice):
            left *= math.prod(taken)
        elif isinstance(one, np.ndarray):
            chosen.append((int(np.count_nonzero(one)),) if _is_mask(one) else one.shape)
    return math.prod(np.broadcast_shapes(*chosen)) * left * math.prod(dims)


def _as_tuple(index: Any) -> tuple:
    return index if isinstance(index, tuple) else (index,)


def _is_mask(one: Any) -> bool:
    return isinstance(one, np.ndarray) and one.dtype == bool


def checked(value: Any) -> Any:
    """Checks a value, so that nothing large or strange goes on to the next operation."""
    if isinstance(value, int) and not isinstance(value, bool):
        check_bits(value.bit_length())
    if isinstance(value, np.ndarray):
        check_size(numpy_words.size(value))
    return value
