"""A statement of the user's program in, the same statement with one expression replaced out.

Only where exactly one place fits, so that nothing is guessed; all other characters stay as they are.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

_LONGEST = 12  # lines
_KERAS = ("ops", "K", "backend")
_PICK = ("gather", "gather_nd", "boolean_mask", "reshape", "squeeze", "expand_dims", "transpose")
_DIVIDE = ("div", "divide", "truediv", "realdiv")


@dataclass(frozen=True, slots=True)
class Place:
    """One expression of the statement: where it is, the parts that a template may use, and the name of its library."""

    start: tuple[int, int]
    end: tuple[int, int]
    parts: tuple[str, ...]
    library: str
    around: tuple[str, str] = ("", "")  # what stays before and behind the template


Finder = Callable[["Statement", ast.AST], Place | None]


class Statement:
    """A statement's text with its syntax tree; ``tree`` is None when it does not parse. ``known`` are the names that
    stand for an expression of an earlier statement."""

    def __init__(self, text: str, known: Mapping[str, ast.expr] | None = None) -> None:
        self.lines = text.encode().split(b"\n")
        self.known = known or {}
        try:
            self.tree: ast.AST | None = ast.parse(text)
        except (SyntaxError, ValueError):
            self.tree = None
        self._own = {id(node) for node in ast.walk(self.tree)} if self.tree is not None else set()

    def text(self, node: ast.AST) -> str:
        return self._between(*_span(node)).decode() if id(node) in self._own else ast.unparse(node)

    def index(self, node: ast.Subscript) -> str:
        """What stands in its brackets, which may be slices."""
        if id(node) in self._own:
            return self.text(node.slice)
        return ast.unparse(ast.Subscript(ast.Name("x"), node.slice, ast.Load()))[2:-1]

    def seen(self, node: ast.AST) -> ast.AST:
        """What a name stands for, where that is known; anything else as it is."""
        for _ in range(8):
            if not isinstance(node, ast.Name) or node.id not in self.known:
                break
            node = self.known[node.id]
        return node

    def number(self, node: ast.AST) -> float | None:
        """The value of an expression of numbers alone."""
        node = self.seen(node)
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            return float(node.value)
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
            value = self.number(node.operand)
            return None if value is None else -value
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub)):
            left, right = self.number(node.left), self.number(node.right)
            if left is not None and right is not None:
                return left + right if isinstance(node.op, ast.Add) else left - right
        return None

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


@dataclass(frozen=True, slots=True)
class Target:
    """Which of several places is meant: the one that gave op number ``at`` of the ``count`` that the statement made."""

    find: Finder
    at: int
    count: int

    def place(self, whole: Statement) -> Place | None:
        """None when that cannot be told."""
        places = _places(whole, self.find)
        if (
            not places or not self.count or self.count % len(places)
        ):  # a statement that ran several times made as many of each
            return None
        return places[self.at % len(places)]


def rewrite(
    statement: str, find: Finder, template: str, library: str = "tf", known: Mapping[str, ast.expr] | None = None,
    target: Target | None = None,
) -> str:  # fmt: skip
    """The statement with the only place that ``find`` finds replaced; "" when there is none, or more than one and no
    target tells which.

    In the template ``{0}``, ``{1}`` … are the place's parts and ``{tf}`` is the library that the user calls there.
    """
    whole = Statement(statement, known)
    if whole.tree is None or len(whole.lines) > _LONGEST:
        return ""
    places = _places(whole, find)
    wanted = target.place(whole) if target is not None else None
    if target is not None and wanted is None and len(_places(whole, target.find)) > 1:
        return ""
    if wanted is not None:
        places = [place for place in places if place.start <= wanted.start and wanted.end <= place.end][:1]
    if len(places) != 1:
        return ""
    place, owner = places[0], places[0].library or library
    if owner.rpartition(".")[2] in _KERAS and ("{tf}.nn." in template or "{tf}.math." in template):
        owner = library  # Keras has these under other names, or not at all
    text = template.format(*place.parts, tf=owner)
    changed = whole.replaced(place, place.around[0] + _as_operand(text, whole, place) + place.around[1])
    try:
        ast.parse(changed)
    except (SyntaxError, ValueError):
        return ""
    return changed if owner or "{tf}" not in template else ""


def _places(whole: Statement, find: Finder) -> list[Place]:
    """In the order in which Python computes them."""
    assert whole.tree is not None
    return [place for node in _inner_first(whole.tree) if (place := find(whole, node)) is not None]


def _inner_first(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield from _inner_first(child)
    yield node


def _as_operand(text: str, whole: Statement, place: Place) -> str:
    """In brackets where a call becomes something that binds less."""
    assert whole.tree is not None
    calls = [node for node in ast.walk(whole.tree) if isinstance(node, ast.Call)]
    try:
        made = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    is_open = isinstance(made, ast.BinOp) and made.col_offset == 0
    return f"({text})" if is_open and any(_span(node) == (place.start, place.end) for node in calls) else text


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
    """``outer(inner(x, ...))``, also of elements that are picked out: the parts are those of the inner call."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not _is_call(node, outer) or len(node.args) != 1 or node.keywords:  # type: ignore[attr-defined]
            return None
        inside, around = picked_from(statement, node.args[0])  # type: ignore[attr-defined]
        place = call(*inner)(statement, inside)
        return Place(*_span(node), place.parts, place.library, around) if place else None

    return find


def picked_from(statement: Statement, node: ast.AST) -> tuple[ast.AST, tuple[str, str]]:
    """The expression behind ops that only pick or arrange elements, and what those ops write around it."""
    before, after = "", ""
    while True:
        node = statement.seen(node)
        if isinstance(node, ast.Subscript):
            after, node = f"[{statement.index(node)}]{after}", node.value
        elif _is_call(node, _PICK) and (place := call(*_PICK)(statement, node)) is not None:
            before, after = f"{before}{place.parts[2]}(", f"{place.parts[1]}){after}"
            node = node.args[0]  # type: ignore[attr-defined]
        else:
            return node, (before, after)


def call_of_one_minus(outer: tuple[str, ...], inner: tuple[str, ...]) -> Finder:
    """``outer(1 - inner(x))``: the parts are those of the inner call."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        if not _is_call(node, outer) or len(node.args) != 1:  # type: ignore[attr-defined]
            return None
        taken = _taken_from_one(statement, statement.seen(node.args[0]))  # type: ignore[attr-defined]
        if taken is None:
            return None
        inside, around = picked_from(statement, taken)
        place = call(*inner)(statement, inside)
        return Place(*_span(node), place.parts, place.library, around) if place else None

    return find


def _taken_from_one(statement: Statement, node: ast.AST) -> ast.AST | None:
    """The p of ``1 - p``, ``1 - p + 1e-10``, ``1 + 1e-10 - p``, ``tf.subtract(1.0, p)``, ``tf.ones_like(p) - p``."""
    left = right = None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        value = statement.number(node.right)
        return _taken_from_one(statement, node.left) if value is not None and abs(value) < 1e-3 else None
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        left, right = node.left, node.right
    elif _is_call(node, ("subtract",)) and len(node.args) == 2:  # type: ignore[attr-defined]
        left, right = node.args  # type: ignore[attr-defined]
    if left is None:
        return None
    value = statement.number(left)
    is_one = _is_call(statement.seen(left), ("ones_like",)) if value is None else abs(value - 1) < 1e-6
    return right if is_one else None


def operands(statement: Statement, node: ast.AST) -> tuple[ast.AST, ast.AST] | None:
    """The two of ``a / b``, ``tf.div(a, b)``, ``tf.divide(a, b)``."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
        return node.left, node.right
    if _is_call(node, _DIVIDE) and len(node.args) == 2:  # type: ignore[attr-defined]
        return tuple(node.args)  # type: ignore[attr-defined]
    return None


def division(statement: Statement, node: ast.AST) -> Place | None:
    """``a / b``: the parts are both, in brackets where they need them, and bare."""
    pair = operands(statement, node)
    if pair is None or (isinstance(pair[1], ast.Constant)):
        return None
    above, below = (_operand(statement, one) for one in pair)
    library = _library(statement, node.func) if isinstance(node, ast.Call) else ""
    return Place(*_span(node), (above, below, statement.text(pair[0]), statement.text(pair[1])), library)


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


def small_terms(text: str, known: Mapping[str, ast.expr]) -> list[float]:
    """The constants below 1e-3 that a statement adds to, or takes from, a sum with a 1 in it."""
    statement, found = Statement(text, known), []
    sums = [node for node in ast.walk(statement.tree) if _is_sum(node)] if statement.tree is not None else []
    for node in sums:
        numbers = [abs(value) for term in _terms(statement, node) if (value := statement.number(term)) is not None]
        if 1.0 in numbers:
            found += [value for value in numbers if 0 < value < 1e-3]
    return found


def _is_sum(node: ast.AST) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Sub))


def _terms(statement: Statement, node: ast.AST) -> Iterator[ast.AST]:
    node = statement.seen(node)
    if isinstance(node, ast.BinOp) and _is_sum(node):
        yield from _terms(statement, node.left)
        yield from _terms(statement, node.right)
    else:
        yield node


# ---- small questions


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def _is_call(node: ast.AST, names: tuple[str, ...]) -> bool:
    return isinstance(node, ast.Call) and _name(node.func) in names


def _operand(statement: Statement, node: ast.AST) -> str:
    text = statement.text(node)
    simple = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
    return text if isinstance(node, simple) else f"({text})"


def _library(statement: Statement, function: ast.AST) -> str:
    """``tf`` of ``tf.math.log``; ``ops`` or ``keras.ops`` of ``keras.ops.log``, which has maximum and where as well."""
    if not isinstance(function, ast.Attribute):
        return ""
    owner = statement.text(function.value)
    if owner.rpartition(".")[2] in _KERAS:
        return owner
    below = owner.partition(".")[2].removeprefix("compat.v1").removeprefix(".")
    return owner.partition(".")[0] if below in ("", "math", "nn", "linalg") else ""
