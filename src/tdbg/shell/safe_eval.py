"""A numpy expression that a person typed in, its value out; nothing but arithmetic can come of it.

The text is parsed, and only what is listed here is carried out: numbers, operators, comparisons, slices, the functions
of ``numpy_words`` and a few attributes of arrays. Python's own ``eval`` is not used. What would take too much memory is
refused before it is made.
"""

from __future__ import annotations

import ast
import difflib
import math
import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.shell import numpy_words
from tdbg.shell.numpy_words import LinearAlgebra, Word

LARGEST = 1 << 27  # elements of any array on the way
_LONGEST_TEXT, _MOST_BITS, _MOST_ARGUMENTS = 10_000, 4096, 4
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
    ast.Lambda: "functions of one's own", ast.ListComp: "comprehensions", ast.GeneratorExp: "comprehensions",
    ast.SetComp: "comprehensions", ast.DictComp: "comprehensions", ast.NamedExpr: "assignments",
    ast.JoinedStr: "formatted texts", ast.Dict: "dictionaries", ast.Set: "sets", ast.Starred: "starred arguments",
    ast.Await: "await", ast.Yield: "yield",
}  # fmt: skip


def evaluate(text: str, names: Mapping[str, Any] | None = None) -> Any:
    """The value of an expression in which ``names`` stand for arrays; TdbgError, in one sentence, when it has none."""
    if len(text) > _LONGEST_TEXT:
        raise TdbgError(f"this expression has {len(text):,} characters; {_LONGEST_TEXT:,} are enough")
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError as error:
        raise TdbgError(f"this is no expression: {error.msg}; write one such as np.max(`x:0`) / 2") from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise TdbgError("this expression cannot be read: it is nested too deeply or holds a zero byte") from error
    evaluator = _Evaluator({name: _read_only(value) for name, value in (names or {}).items()})
    try:
        with np.errstate(all="ignore"):
            found = evaluator.value(tree.body)
    except TdbgError:
        raise
    except RecursionError as error:
        raise TdbgError("this expression is nested too deeply; evaluate it in parts") from error
    except MemoryError as error:
        raise TdbgError("there is not enough memory for this; take a slice of the tensor") from error
    except Exception as error:  # whatever numpy says of shapes, types and values
        said = " ".join(str(error).split()) or type(error).__name__
        raise TdbgError(f"this cannot be computed: {said}") from error
    if isinstance(found, Word | LinearAlgebra | type):
        raise TdbgError("this is a function; give it something in parentheses, as in np.sum(`x:0`)")
    return found


def _read_only(value: Any) -> np.ndarray:
    """So that nothing, however it is called, changes what the program or the trace holds."""
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
        return _checked(method(node))

    def _of_constant(self, node: ast.Constant) -> Any:
        if isinstance(node.value, str):
            _check_text(node.value)
        elif isinstance(node.value, int):
            _check_bits(node.value.bit_length())
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
            raise TdbgError("np alone is no value; write a function of it, such as np.sum(…)")
        raise TdbgError(
            f"there is no {node.id!r} here; write tensors in backticks, as `{node.id}:0`, and functions as np.…"
        )

    def _of_tuple(self, node: ast.Tuple) -> tuple:
        return tuple(self._of_list(node))

    def _of_list(self, node: ast.List | ast.Tuple) -> list:
        parts = [self._part(one) for one in node.elts]
        _check_size(numpy_words.size(parts))
        return parts

    def _part(self, node: ast.expr) -> Any:
        part = self.value(node)
        if isinstance(part, str | bytes):
            raise TdbgError("texts inside a list or tuple cannot be used here; compare with one text at a time")
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
        return _UNARY[type(node.op)](_number(self.value(node.operand)))

    def _of_binop(self, node: ast.BinOp) -> Any:
        left, right = _number(self.value(node.left)), _number(self.value(node.right))
        if isinstance(left, int) and isinstance(right, int):
            _check_integers(node.op, left, right)
        elif isinstance(node.op, ast.MatMult):
            _check_size(numpy_words.matmul(left, right))
        else:
            _check_size(numpy_words.broadcast(left, right))
        return _OPERATORS[type(node.op)](left, right)

    def _of_compare(self, node: ast.Compare) -> Any:
        left: Any = self.value(node.left)
        found: Any = None
        for op, other in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _COMPARISONS:
                raise TdbgError("in and is cannot be used here; compare with == or np.isin")
            right = self.value(other)
            if isinstance(left, np.ndarray) and isinstance(right, np.ndarray):
                _check_size(numpy_words.broadcast(left, right))
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
            raise TdbgError(f"only arrays have elements, and this is {type(whole).__name__}")
        _check_size(_size_of_part(whole, index))
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
            raise TdbgError("arrays are indexed by numbers and slices, not by texts")
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
        _check_arguments(function, args, keywords)
        _check_size(function.bound(*args, **keywords))
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
    return f"; did you mean {near[0]!r}?" if near else "; help eval lists what can"


def _method(array: np.ndarray, name: str) -> Word:
    return Word(
        name, getattr(array, name), lambda *args, **keywords: numpy_words.method_bound(name, array, args, keywords)
    )


def _check_arguments(function: Word, args: list[Any], keywords: dict[str, Any]) -> None:
    if isinstance(function.function, np.ufunc) and len(args) > function.function.nin:
        raise TdbgError(f"np.{function.name} takes {function.function.nin} arrays")
    if len(args) > _MOST_ARGUMENTS:
        raise TdbgError(f"np.{function.name}: at most {_MOST_ARGUMENTS} arguments; name the others")
    for name in keywords:
        if name in ("out", "**", "like", "subok") or (name == "shape" and "like" in function.name):
            raise TdbgError(f"np.{function.name}: {name} cannot be given here")
    if "dtype" in keywords:
        _check_type(keywords["dtype"])
    may_be_text = 0 if function.name == "astype" else 1 if function.name in _WITH_OPTIONS else len(args)
    texts = [one for one in args[:may_be_text] if isinstance(one, str | bytes)]
    texts += [name for name, one in keywords.items() if isinstance(one, str | bytes) and name not in _OPTIONS]
    if texts:
        raise TdbgError(f"np.{function.name}: a text is no number; texts can only be compared with")
    for one in [*args, *keywords.values()]:
        if isinstance(one, Word | LinearAlgebra):
            raise TdbgError("functions cannot be passed to functions here")
        if isinstance(one, np.ndarray) and one.dtype.kind not in "biufcV" and function.name not in _FOR_TEXTS:
            raise TdbgError("an array of texts can be indexed, compared and counted, not computed with")


_OPTIONS = frozenset("dtype order mode ord kind method side indexing casting".split())
_WITH_OPTIONS = frozenset("linalg.norm pad ones zeros empty array asarray".split())
_FOR_TEXTS = frozenset(
    "shape size ndim len reshape ravel flatten transpose squeeze unique equal not_equal concatenate".split()
)


def _check_text(text: str) -> None:
    """Texts are names of types and options; a type that is no number could have any size."""
    try:
        kind = np.dtype(text)
    except (TypeError, ValueError, SyntaxError):
        return
    _check_type(kind)


def _check_type(given: Any) -> None:
    kind = np.dtype(given)
    if kind.kind not in "biufc" or kind.itemsize > 32:
        raise TdbgError(f"{given} is no type of numbers; take float32, int64 or such")


def _number(value: Any) -> Any:
    """An operand of arithmetic."""
    if isinstance(value, list | tuple):
        value = np.asarray(value)
    if isinstance(value, np.ndarray) and value.dtype.kind in "OSU":
        raise TdbgError("an array of texts can be indexed, compared and counted, not computed with")
    if not isinstance(value, np.ndarray | np.generic | int | float | complex):
        raise TdbgError(f"{type(value).__name__} is no number; operators take numbers and arrays")
    return value


def _check_integers(op: ast.operator, left: int, right: int) -> None:
    bits = max(left.bit_length(), right.bit_length()) + 1
    if isinstance(op, ast.Pow) and right > 0:
        bits = left.bit_length() * right
    elif isinstance(op, ast.LShift):
        bits = left.bit_length() + right
    elif isinstance(op, ast.Mult):
        bits = left.bit_length() + right.bit_length()
    _check_bits(bits)


def _check_bits(bits: int) -> None:
    if bits > _MOST_BITS:
        raise TdbgError("this integer is too large; write it as a float, such as 10.0**10")


def _check_size(elements: float) -> None:
    if elements > LARGEST:
        raise TdbgError(f"this would make {elements:,.0f} elements; at most {LARGEST:,} are made: take slices first")


def _size_of_part(whole: np.ndarray, index: Any) -> int:
    """A bound: what lists and arrays pick together, times the dimensions that they leave."""
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


def _checked(value: Any) -> Any:
    """Nothing large or strange goes on to the next operation."""
    if isinstance(value, int) and not isinstance(value, bool):
        _check_bits(value.bit_length())
    if isinstance(value, np.ndarray):
        _check_size(numpy_words.size(value))
    return value
