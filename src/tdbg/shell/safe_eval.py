"""Computes a numpy expression that a person typed; nothing but arithmetic can come of it.

The text is parsed, and only what is listed here is carried out: numbers, operators, comparisons, slices, the functions
of ``numpy_words`` and a few attributes of arrays. Python's own ``eval`` is not used. What would take too much memory is
refused before it is made.
"""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.shell import numpy_words
from tdbg.shell.eval_limits import (
    check_arguments,
    check_bits,
    check_integers,
    check_size,
    check_text,
    checked,
    number,
    size_of_part,
)
from tdbg.shell.numpy_words import LinearAlgebra, Word

_LONGEST_TEXT = 10_000
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow, ast.MatMult: operator.matmul,
    ast.BitAnd: operator.and_, ast.BitOr: operator.or_, ast.BitXor: operator.xor, ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
}  # fmt: skip
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Invert: operator.invert, ast.Not: operator.not_,
}  # fmt: skip
_COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_BUILTINS: dict[str, str] = {
    "abs": "abs", "min": "min", "max": "max", "sum": "sum", "any": "any", "all": "all", "round": "round",
}  # fmt: skip
_PLAIN: dict[str, Callable[[Any], Any]] = {"len": len, "float": float, "int": int, "bool": bool}
_FEATURES = {
    ast.Lambda: "functions of your own", ast.ListComp: "comprehensions", ast.GeneratorExp: "comprehensions",
    ast.SetComp: "comprehensions", ast.DictComp: "comprehensions", ast.NamedExpr: "assignments",
    ast.JoinedStr: "formatted texts", ast.Dict: "dictionaries", ast.Set: "sets", ast.Starred: "starred arguments",
    ast.Await: "await", ast.Yield: "yield",
}  # fmt: skip


def evaluate(text: str, names: Mapping[str, Any] | None = None) -> Any:
    """Computes an expression in which ``names`` stand for arrays; TdbgError, in one sentence, when it has no value."""
    if len(text) > _LONGEST_TEXT:
        raise TdbgError(f"this expression has {len(text):,} characters; the limit is {_LONGEST_TEXT:,}")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise TdbgError(f"this is not an expression: {error.msg}; write one such as np.max(`x:0`) / 2") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise TdbgError("this expression cannot be read: it is nested too deeply or contains a zero byte") from error
    evaluator = _Evaluator({name: _read_only(value) for name, value in (names or {}).items()})
    try:
        with np.errstate(all="ignore"):
            found = evaluator.value(tree.body)
    except TdbgError:
        raise
    except RecursionError as error:
        raise TdbgError("this expression is nested too deeply; evaluate it in parts") from error
    except MemoryError as error:
        raise TdbgError("there is not enough memory for this; use a slice of the tensor") from error
    except Exception as error:  # whatever numpy says of shapes, types and values
        said = " ".join(str(error).split()) or type(error).__name__
        raise TdbgError(f"cannot compute this: {said}") from error
    if isinstance(found, Word | LinearAlgebra | type):
        raise TdbgError("this is a function; call it with an argument, as in np.sum(`x:0`)")
    return found


def _read_only(value: Any) -> np.ndarray:
    """Makes an array read-only, so that nothing, however it is called, changes what the program or the trace holds."""
    array = np.asarray(value).view()
    array.flags.writeable = False
    return array


class _Evaluator:
    def __init__(self, names: Mapping[str, np.ndarray]) -> None:
        self._names = names

    def value(self, node: ast.expr) -> Any:
        method = getattr(self, f"_of_{type(node).__name__.lower()}", None)
        if method is None:
            what = _FEATURES.get(type(node), type(node).__name__)
            raise TdbgError(f"{what} cannot be used here; only numbers, operators, slices and functions of np")
        return checked(method(node))

    def _of_constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, str):
            check_text(node.value)
        elif isinstance(node.value, int):
            check_bits(node.value.bit_length())
        return node.value

    def _of_name(self, node: ast.Name) -> Any:
        if node.id in self._names:
            return self._names[node.id]
        if node.id in ("inf", "nan"):
            return float(node.id)
        if node.id in _PLAIN:
            return Word(node.id, _PLAIN[node.id], lambda *_: 1)
        if node.id in _BUILTINS:
            return numpy_words.look_up(_BUILTINS[node.id])
        if node.id in ("np", "numpy"):
            raise TdbgError("np alone is not a value; call one of its functions, such as np.sum(…)")
        raise TdbgError(
            f"there is no {node.id!r} here; write tensors in backticks, as `{node.id}:0`, and functions as np.…"
        )

    def _of_tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self._of_list(node))

    def _of_list(self, node: ast.List | ast.Tuple) -> list:
        parts = [self._part(one) for one in node.elts]
        check_size(numpy_words.size(parts))
        return parts

    def _part(self, node: ast.expr) -> Any:
        part = self.value(node)
        if isinstance(part, str | bytes):
            raise TdbgError("text inside a list or tuple cannot be used here; compare with one string at a time")
        return part

    def _of_ifexp(self, node: ast.IfExp) -> Any:
        return self.value(node.body if self.value(node.test) else node.orelse)

    def _of_boolop(self, node: ast.BoolOp) -> Any:
        found: Any = None
        for one in node.values:
            found = self.value(one)
            if bool(found) == isinstance(node.op, ast.Or):
                break
        return found

    def _of_unaryop(self, node: ast.UnaryOp) -> Any:
        return _UNARY[type(node.op)](number(self.value(node.operand)))

    def _of_binop(self, node: ast.BinOp) -> Any:
        left, right = number(self.value(node.left)), number(self.value(node.right))
        if isinstance(left, int) and isinstance(right, int):
            check_integers(node.op, left, right)
        elif isinstance(node.op, ast.MatMult):
            check_size(numpy_words.matmul(left, right))
        else:
            check_size(numpy_words.broadcast(left, right))
        return _OPERATORS[type(node.op)](left, right)

    def _of_compare(self, node: ast.Compare) -> Any:
        left: Any = self.value(node.left)
        found: Any = None
        for op, other in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARISONS:
                raise TdbgError("in and is cannot be used here; compare with == or np.isin")
            right = self.value(other)
            if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
                check_size(numpy_words.broadcast(left, right))
            one = _COMPARISONS[type(op)](left, right)
            found = one if found is None else np.logical_and(found, one)
            left = right
        return found

    # ---- parts of arrays

    def _of_subscript(self, node: ast.Subscript) -> Any:
        whole = self.value(node.value)
        index = self._index(node.slice)
        if isinstance(whole, list | tuple):
            if not isinstance(index, int | slice):
                raise TdbgError("a list is indexed by one number or slice")
            return whole[index]
        if not isinstance(whole, np.ndarray):
            raise TdbgError(f"only arrays have elements, and this is a {type(whole).__name__}")
        check_size(size_of_part(whole, index))
        return whole[index]

    def _index(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Slice):
            return slice(
                *(None if one is None else int(self.value(one)) for one in (node.lower, node.upper, node.step))
            )
        if isinstance(node, ast.Tuple):
            return tuple(self._index(one) for one in node.elts)
        index = self.value(node)
        if isinstance(index, str | bytes):
            raise TdbgError("arrays are indexed by numbers and slices, not by text")
        return index

    def _of_attribute(self, node: ast.Attribute) -> Any:
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy"):
            return _word(numpy_words.look_up, node.attr, "np")
        whole = self.value(node.value)
        if isinstance(whole, LinearAlgebra):
            return _word(numpy_words.look_up_linear_algebra, node.attr, "np.linalg")
        if isinstance(whole, tuple) and node.attr in getattr(whole, "_fields", ()):
            return getattr(whole, node.attr)
        if isinstance(whole, np.ndarray | np.generic):
            if node.attr in numpy_words.ARRAY_ATTRIBUTES:
                return getattr(whole, node.attr)
            if node.attr in numpy_words.ARRAY_METHODS:
                return _method(np.asarray(whole), node.attr)
        raise TdbgError(f"{type(whole).__name__} has no {node.attr!r} that can be used here{_near(node.attr)}")

    def _of_call(self, node: ast.Call) -> Any:
        function = self.value(node.func)
        args = [self.value(one) for one in node.args]
        keywords = {one.arg or "**": self.value(one.value) for one in node.keywords}
        if isinstance(function, type) and issubclass(function, np.generic):
            function = Word(function.__name__, function, lambda *given: sum(map(np.size, given)))
        if not isinstance(function, Word):
            raise TdbgError("only functions of np and methods of arrays can be called")
        check_arguments(function, args, keywords)
        check_size(function.bound(*args, **keywords))
        return function.function(*args, **keywords)


# ---- what is refused


def _word(look_up: Callable[[str], Any], name: str, of: str) -> Any:
    try:
        return look_up(name)
    except KeyError:
        raise TdbgError(f"{of}.{name} cannot be used here{_near(name)}") from None


def _near(name: str) -> str:
    known = [*numpy_words.names(), *numpy_words.ARRAY_METHODS]
    near = difflib.get_close_matches(name, known, 1, 0.75)
    return f"; did you mean {near[0]!r}?" if near else "; help eval lists what can be used"


def _method(array: np.ndarray, name: str) -> Word:
    return Word(
        name, getattr(array, name), lambda *args, **keywords: numpy_words.method_bound(name, array, args, keywords)
    )
