"""Finds expressions of a user's statement that a fix can replace: calls by the kind of op that they make, operators,
and what is put together of them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeGuard

from tdbg.frameworks.code import Code
from tdbg.query.fixes.statement import Finder, Place, Statement, span
from tdbg.vocabulary import Kind

# They only pick or arrange elements.
_PICK = (Kind.GATHER, Kind.GATHER_ND, Kind.RESHAPE, Kind.SQUEEZE, Kind.EXPAND_DIMS, Kind.TRANSPOSE)
_SELF = ("self", "cls")


# ---- calls


@dataclass(frozen=True, slots=True)
class Call:
    """A call, whether it is written ``log(x)`` or ``x.log()``: x is its first argument."""

    statement: Statement
    node: ast.Call
    arguments: list[ast.expr]
    is_method: bool

    @property
    def first(self) -> ast.expr:
        return self.arguments[0]

    @property
    def is_unary(self) -> bool:
        return len(self.arguments) == 1 and not self.node.keywords

    def rest(self, after: int = 1) -> str:
        """``, axis=1``: the text of the arguments behind some."""
        text, keywords = self.statement.text, self.node.keywords
        named = [(f"{keyword.arg}=", keyword.value) for keyword in keywords]
        return "".join(f", {label}{text(value)}" for label, value in [("", x) for x in self.arguments[after:]] + named)

    def around(self, at: int = 0) -> tuple[str, str]:
        """What stands before and behind one of its arguments."""
        function, given = self.statement.text(self.node.func), self.arguments[:at]
        if self.is_method:
            name = _name(self.node.func)
            if at == 0:
                return "", f".{name}({self.rest().removeprefix(', ')})"
            function, given = f"{_operand(self.statement, self.first)}.{name}", given[1:]
        before = "".join(f"{self.statement.text(x)}, " for x in given)
        return f"{function}({before}", f"{self.rest(at + 1)})"

    def place(self, *parts: str, around: tuple[str, str] = ("", "")) -> Place:
        """Where the call stands."""
        return Place(*span(self.node), parts, _library(self.statement, self.node.func), around)


def call_of(statement: Statement, node: ast.AST, *kinds: Kind) -> Call | None:
    """The call of a function that makes an op of one of these kinds."""
    names = {name for kind in kinds for name in statement.dialect.spelled.get(kind, ())}
    return _named(statement, node, names)


def _named(statement: Statement, node: ast.AST, names: set[str]) -> Call | None:
    if not isinstance(node, ast.Call) or _name(node.func) not in names:
        return None
    owner = statement.text(node.func.value) if isinstance(node.func, ast.Attribute) else ""
    is_method = statement.dialect.has_methods and bool(owner) and owner.partition(".")[0] not in statement.imports
    if is_method and owner in _SELF:
        return None
    arguments = [node.func.value, *node.args] if is_method and isinstance(node.func, ast.Attribute) else node.args
    is_open = any(isinstance(x, ast.Starred) for x in arguments) or any(x.arg is None for x in node.keywords)
    if not arguments or is_open:  # f(*some, **more)
        return None
    return Call(statement, node, arguments, is_method)


def call(*kinds: Kind) -> Finder:
    """A whole call: the parts are its first argument, and the text of the others with a comma before it."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        found = call_of(statement, node, *kinds)
        return found.place(statement.text(found.first), found.rest()) if found else None

    return find


def argument_of(*kinds: Kind) -> Finder:
    """The first argument of a call, which is the part."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        found = call_of(statement, node, *kinds)
        return found.place(statement.text(found.first), around=found.around()) if found else None

    return find


def second_argument_of(*kinds: Kind) -> Finder:
    """The second argument of a call that has two: both are parts, in brackets where they need them."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        found = call_of(statement, node, *kinds)
        if found is None or len(found.arguments) != 2 or found.node.keywords:
            return None
        return found.place(*(_operand(statement, x) for x in found.arguments), around=found.around(1))

    return find


def type_of_cast(label: str) -> Finder:
    """The type of ``cast(x, tf.float16)``, which may be a text."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        found = call_of(statement, node, Kind.CAST)
        if found is None or len(found.arguments) != 2 or found.node.keywords:
            return None
        target = found.arguments[1]
        is_wanted = label in (_name(target), getattr(target, "value", None))
        return found.place(around=found.around(1)) if is_wanted else None

    return find


# ---- calls of calls


def call_of_call(outer: Kind, inner: Kind) -> Finder:
    """``outer(inner(x, ...))``, also of elements that are picked out: the parts are those of the inner call."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        found = call_of(statement, node, outer)
        return _picked(found, found.first, call(inner)) if found and found.is_unary else None

    return find


def call_of_one_minus(outer: Kind, inner: Kind) -> Finder:
    """``outer(1 - inner(x))``: the parts are those of the inner call."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        found = call_of(statement, node, outer)
        if found is None or len(found.arguments) != 1:
            return None
        taken = _taken_from_one(statement, statement.seen(found.first))
        return _picked(found, taken, call(inner)) if taken is not None else None

    return find


def log_of(inner: Finder) -> Finder:
    """The log of what another finder finds."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        found = call_of(statement, node, Kind.LOG)
        return _picked(found, found.first, inner) if found and found.is_unary else None

    return find


def _picked(outer: Call, node: ast.expr, inner: Finder) -> Place | None:
    """The place of a call, with the parts that a finder finds behind ops that only pick or arrange elements."""
    inside, around = _picked_from(outer.statement, node)
    place = inner(outer.statement, inside)
    return Place(*span(outer.node), place.parts, place.library, around) if place else None


def _picked_from(statement: Statement, node: ast.expr) -> tuple[ast.expr, tuple[str, str]]:
    """The expression behind ops that only pick or arrange elements, and what those ops write around it."""
    before, after = "", ""
    while True:
        node = statement.seen(node)
        picked = call_of(statement, node, *_PICK)
        if isinstance(node, ast.Subscript):
            after, node = f"[{statement.index(node)}]{after}", node.value
        elif picked is not None:
            around = picked.around()
            before, after, node = f"{before}{around[0]}", f"{around[1]}{after}", picked.first
        else:
            return node, (before, after)


def _taken_from_one(statement: Statement, node: ast.expr) -> ast.expr | None:
    """The p of ``1 - p``, ``1 - p + 1e-10``, ``1 + 1e-10 - p``, ``tf.subtract(1.0, p)``, ``tf.ones_like(p) - p``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        value = statement.number(node.right)
        return _taken_from_one(statement, node.left) if value is not None and abs(value) < 1e-3 else None
    found = call_of(statement, node, Kind.SUBTRACT)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        left, right = node.left, node.right
    elif found is not None and len(found.arguments) == 2:
        left, right = found.arguments
    else:
        return None
    value = statement.number(left)
    is_one = _is_ones(statement, statement.seen(left)) if value is None else abs(value - 1) < 1e-6
    return right if is_one else None


def _is_ones(statement: Statement, node: ast.expr) -> bool:
    name = statement.dialect.function("ones_like")
    return bool(name) and _named(statement, node, {name}) is not None


# ---- operators


def operands(statement: Statement, node: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """The two of ``a / b``, ``tf.div(a, b)``, ``tf.divide(a, b)``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.left, node.right
    found = call_of(statement, node, Kind.DIVIDE)
    return (found.arguments[0], found.arguments[1]) if found is not None and len(found.arguments) == 2 else None


def division(statement: Statement, node: ast.AST) -> Place | None:
    """``a / b``: the parts are both."""
    pair = operands(statement, node)
    if pair is None or isinstance(pair[1], ast.Constant):
        return None
    library = _library(statement, node.func) if isinstance(node, ast.Call) else ""
    return Place(*span(node), tuple(map(statement.text, pair)), library)


def power(statement: Statement, node: ast.AST) -> Place | None:
    """``a ** b``: the parts are both."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)):
        return None
    return Place(*span(node), (statement.text(node.left), statement.text(node.right)), "")


def times_own_log(statement: Statement, node: ast.AST) -> Place | None:
    """``p * log(p)`` in either order: the part is p."""
    if not (isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult)):
        return None
    for factor, other in ((node.left, node.right), (node.right, node.left)):
        logarithm = call_of(statement, other, Kind.LOG)
        if logarithm is not None and ast.dump(factor) == ast.dump(logarithm.first):
            return Place(*span(node), (statement.text(factor),), _library(statement, logarithm.node.func))
    return None


def minus_infinity(statement: Statement, node: ast.AST) -> Place | None:
    """``float("-inf")``, ``-np.inf``, ``-float("inf")``, ``-math.inf``."""
    texts = ('float("-inf")', "float('-inf')", '-float("inf")', "-float('inf')", "-np.inf", "-numpy.inf", "-math.inf")
    if not isinstance(node, (ast.Call, ast.UnaryOp)) or statement.text(node) not in texts:
        return None
    return Place(*span(node), (), "")


# ---- choices


def where_around(*kinds: Kind) -> Finder:
    """The x of ``where(c, f(x), other)`` with f one of these: the parts are c and x."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        choice = _choice(statement, node)
        inner = call_of(statement, choice.arguments[1], *kinds) if choice is not None else None
        if choice is None or inner is None or not inner.is_unary:
            return None
        (before, after), (opening, closing) = choice.around(1), inner.around()
        parts = statement.text(choice.first), statement.text(inner.first)
        return choice.place(*parts, around=(before + opening, closing + after))

    return find


def where_of_quotient(statement: Statement, node: ast.AST) -> Place | None:
    """The b of ``where(c, a / b, other)``: the parts are c and b."""
    choice = _choice(statement, node)
    value = choice.arguments[1] if choice is not None else None
    if choice is None or not isinstance(value, ast.BinOp) or not isinstance(value.op, ast.Div):
        return None
    before, after = choice.around(1)
    around = f"{before}{_operand(statement, value.left)} / ", after
    return choice.place(statement.text(choice.first), statement.text(value.right), around=around)


def _choice(statement: Statement, node: ast.AST) -> Call | None:
    """``where(c, a, b)``"""
    found = call_of(statement, node, Kind.SELECT)
    if found is None or found.is_method or len(found.arguments) != 3 or found.node.keywords:
        return None
    return found


# ---- numbers


def small_terms(statement: Statement) -> list[float]:
    """The constants below 1e-3 that a statement adds to, or takes from, a sum with a 1 in it."""
    found: list[float] = []
    nodes = ast.walk(statement.tree) if statement.tree is not None else ()
    for node in nodes:
        if _is_sum(node):
            values = [statement.number(term) for term in _terms(statement, node)]
            numbers = [abs(value) for value in values if value is not None]
            found += [value for value in numbers if 1.0 in numbers and 0 < value < 1e-3]
    return found


def _is_sum(node: ast.AST) -> TypeGuard[ast.BinOp]:
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))


def _terms(statement: Statement, node: ast.expr) -> Iterator[ast.expr]:
    node = statement.seen(node)
    if _is_sum(node):
        yield from _terms(statement, node.left)
        yield from _terms(statement, node.right)
    else:
        yield node


# ---- small questions


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _operand(statement: Statement, node: ast.AST) -> str:
    return Code(statement.text(node)).operand


def _library(statement: Statement, function: ast.AST) -> str:
    """``tf`` of ``tf.math.log``; ``ops`` or ``keras.ops`` of ``keras.ops.log``, which has maximum and where as well."""
    if not isinstance(function, ast.Attribute):
        return ""
    owner, dialect = statement.text(function.value), statement.dialect
    if owner.rpartition(".")[2] in dialect.stand_ins:
        return owner
    name, _, below = owner.partition(".")
    is_framework = name == statement.library or not dialect.has_methods
    return name if is_framework and below in ("", *dialect.namespaces) else ""
