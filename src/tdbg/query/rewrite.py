"""A statement of the user's program in, the same statement with one expression replaced out.

Only where exactly one place fits, so that nothing is guessed; all other characters stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass

_LONGEST = 12  # lines


@dataclass(frozen=True, slots=True)
class Place:
    """One expression of the statement: where it is, the parts that a template may use, and the name of its library."""

    start: tuple[int, int]
    end: tuple[int, int]
    parts: tuple[str, ...]
    library: str


Finder = Callable[["Statement", ast.AST], Place | None]


class Statement:
    """A statement's text with its syntax tree; ``tree`` is None when it does not parse."""

    def __init__(self, text: str) -> None:
        self.lines = text.encode().split(b"\n")
        try:
            self.tree: ast.AST | None = ast.parse(text)
        except (SyntaxError, ValueError):
            self.tree = None

    def text(self, node: ast.AST) -> str:
        return self._between(*_span(node)).decode()

    def _between(self, start: tuple[int, int], end: tuple[int, int]) -> bytes:
        lines = self.lines[start[0] - 1 : end[0]]
        lines = [*lines[:-1], lines[-1][: end[1]]]
        return b"\n".join([lines[0][start[1] :], *lines[1:]])

    def replaced(self, place: Place, text: str) -> str:
        first, last = self.lines[place.start[0] - 1], self.lines[place.end[0] - 1]
        middle = first[: place.start[1]] + text.encode() + last[place.end[1] :]
        return b"\n".join([*self.lines[: place.start[0] - 1], middle, *self.lines[place.end[0] :]]).decode()


def _span(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def rewrite(statement: str, find: Finder, template: str, library: str = "tf") -> str:
    """The statement with the only place that ``find`` finds replaced; "" when there is none, or more than one.

    In the template ``{0}``, ``{1}`` … are the place's parts and ``{tf}`` is the library that the user calls there.
    """
    whole = Statement(statement)
    if whole.tree is None or len(whole.lines) > _LONGEST:
        return ""
    places = [place for node in ast.walk(whole.tree) if (place := find(whole, node)) is not None]
    if len(places) != 1:
        return ""
    place = places[0]
    changed = whole.replaced(place, template.format(*place.parts, tf=place.library or library))
    try:
        ast.parse(changed)
    except (SyntaxError, ValueError):
        return ""
    return changed


# ---- what can be found


def call(*names: str) -> Finder:
    """A call of a function with one of these last names; the parts are its first argument, then the others' text, the
    function, and the first argument in brackets where it needs them."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not _is_call(node, names) or not node.args:  # type: ignore[attr-defined]
            return None
        assert isinstance(node, ast.Call)
        if any(isinstance(argument, ast.Starred) for argument in node.args):
            return None
        others = [*node.args[1:], *(keyword.value for keyword in node.keywords)]
        labels = [""] * (len(node.args) - 1) + [f"{keyword.arg}=" for keyword in node.keywords]
        rest = "".join(f", {label}{statement.text(other)}" for label, other in zip(labels, others, strict=True))
        parts = (statement.text(node.args[0]), rest, statement.text(node.func), _operand(statement, node.args[0]))
        return Place(*_span(node), parts, _library(statement, node.func))

    return find


def call_of_two(*names: str) -> Finder:
    """A call with two arguments, in order: the parts are both, and the function."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not _is_call(node, names) or len(node.args) != 2 or node.keywords:  # type: ignore[attr-defined]
            return None
        assert isinstance(node, ast.Call)
        parts = (*(_operand(statement, argument) for argument in node.args), statement.text(node.func))
        return Place(*_span(node), parts, _library(statement, node.func))

    return find


def cast_to(kind: str) -> Finder:
    """``cast(x, tf.float16)``, the type also as text: the parts are x and the function."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not isinstance(node, ast.Call) or len(node.args) != 2 or _name(node.func) != "cast":
            return None
        value, target = node.args
        if node.keywords or kind not in (_name(target), getattr(target, "value", None)):
            return None
        return Place(*_span(node), (statement.text(value), statement.text(node.func)), _library(statement, node.func))

    return find


def minus_infinity(statement: Statement, node: ast.AST) -> Place | None:
    """``float("-inf")``, ``-np.inf``, ``-float("inf")``, ``-math.inf``."""
    texts = ('float("-inf")', "float('-inf')", '-float("inf")', "-float('inf')", "-np.inf", "-numpy.inf", "-math.inf")
    if not isinstance(node, (ast.Call, ast.UnaryOp)) or statement.text(node) not in texts:
        return None
    return Place(*_span(node), (), "")


def call_of_call(outer: tuple[str, ...], inner: tuple[str, ...]) -> Finder:
    """``outer(inner(x, ...))``: the parts are those of the inner call."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not _is_call(node, outer) or len(node.args) != 1 or node.keywords:  # type: ignore[attr-defined]
            return None
        place = call(*inner)(statement, node.args[0])  # type: ignore[attr-defined]
        return Place(*_span(node), place.parts, place.library) if place else None

    return find


def call_of_one_minus(outer: tuple[str, ...], inner: tuple[str, ...]) -> Finder:
    """``outer(1 - inner(x))``: the parts are those of the inner call."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not _is_call(node, outer) or len(node.args) != 1:  # type: ignore[attr-defined]
            return None
        argument = node.args[0]  # type: ignore[attr-defined]
        if not (isinstance(argument, ast.BinOp) and isinstance(argument.op, ast.Sub) and _is_one(argument.left)):
            return None
        place = call(*inner)(statement, argument.right)
        return Place(*_span(node), place.parts, place.library) if place else None

    return find


def division(statement: Statement, node: ast.AST) -> Place | None:
    """``a / b``: the parts are both, in brackets where they need them, and bare."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)):
        return None
    above, below = _operand(statement, node.left), _operand(statement, node.right)
    return Place(*_span(node), (above, below, statement.text(node.left), statement.text(node.right)), "")


def times_own_log(statement: Statement, node: ast.AST) -> Place | None:
    """``p * log(p)`` in either order: the part is p."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return None
    for factor, logarithm in ((node.left, node.right), (node.right, node.left)):
        place = call("log")(statement, logarithm)
        if place is not None and ast.dump(factor) == ast.dump(logarithm.args[0]):  # type: ignore[attr-defined]
            return Place(*_span(node), place.parts[:1], place.library)
    return None


def power(statement: Statement, node: ast.AST) -> Place | None:
    """``a ** b``"""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)):
        return None
    parts = (_operand(statement, node.left), _operand(statement, node.right))
    return Place(*_span(node), (*parts, statement.text(node.left)), "")


def where_around(*names: str) -> Finder:
    """``where(c, f(x), other)`` with f one of these: the parts are c, f, x and the other value."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not _is_call(node, ("where",)) or len(node.args) != 3 or node.keywords:  # type: ignore[attr-defined]
            return None
        condition, value, other = node.args  # type: ignore[attr-defined]
        if not _is_call(value, names) or len(value.args) != 1 or value.keywords:
            return None
        parts = tuple(statement.text(part) for part in (condition, value.func, value.args[0], other))
        return Place(*_span(node), parts, _library(statement, node.func))  # type: ignore[attr-defined]

    return find


def where_of_quotient(statement: Statement, node: ast.AST) -> Place | None:
    """``where(c, a / b, other)``: the parts are c, a, b and the other value."""
    if not _is_call(node, ("where",)) or len(node.args) != 3 or node.keywords:  # type: ignore[attr-defined]
        return None
    condition, value, other = node.args  # type: ignore[attr-defined]
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Div)):
        return None
    texts = statement.text(condition), _operand(statement, value.left), statement.text(value.right)
    return Place(*_span(node), (*texts, statement.text(other)), _library(statement, node.func))  # type: ignore[attr-defined]


# ---- small questions


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_call(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) in names


def _is_one(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value == 1


def _operand(statement: Statement, node: ast.AST) -> str:
    text = statement.text(node)
    simple = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
    return text if isinstance(node, simple) else f"({text})"


def _library(statement: Statement, function: ast.AST) -> str:
    """``tf`` of ``tf.math.log``; ``ops`` or ``keras.ops`` of ``keras.ops.log``, which has maximum and where as well."""
    if not isinstance(function, ast.Attribute):
        return ""
    owner = statement.text(function.value)
    if owner.rpartition(".")[2] in ("ops", "K", "backend"):
        return owner
    return owner.partition(".")[0] if owner.partition(".")[2] in ("", "math", "nn", "linalg") else ""
