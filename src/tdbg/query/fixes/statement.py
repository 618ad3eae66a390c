"""A statement of the user's program: its text, its syntax tree, and what the names in it stand for."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tdbg.frameworks.contract import Dialect
from tdbg.query.verdict.case import Case


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
    """``tree`` is None when the text does not parse. ``imports`` are the names under which its file imports modules,
    ``known`` those that stand for an expression of an earlier statement."""

    def __init__(
        self, text: str, dialect: Dialect, imports: Mapping[str, str], known: Mapping[str, ast.expr] | None = None
    ) -> None:
        self.lines = text.encode().split(b"\n")
        self.dialect, self.imports, self.known = dialect, imports, known or {}
        try:
            self.tree: ast.AST | None = ast.parse(text)
        except (SyntaxError, ValueError):
            self.tree = None
        self._own = {id(node) for node in ast.walk(self.tree)} if self.tree is not None else set()

    @property
    def library(self) -> str:
        """What the file calls the framework; "" when it does not import it under a name."""
        return next((name for name, module in self.imports.items() if module in self.dialect.modules), "")

    def text(self, node: ast.AST) -> str:
        return self._between(*span(node)).decode() if id(node) in self._own else ast.unparse(node)

    def index(self, node: ast.Subscript) -> str:
        """What stands in its brackets, which may be slices."""
        if id(node) in self._own:
            return self.text(node.slice)
        return ast.unparse(ast.Subscript(ast.Name("x"), node.slice, ast.Load()))[2:-1]

    def seen(self, node: ast.expr) -> ast.expr:
        """What a name stands for, where that is known; anything else as it is."""
        for _ in range(8):
            if not isinstance(node, ast.Name) or node.id not in self.known:
                break
            node = self.known[node.id]
        return node

    def number(self, node: ast.expr) -> float | None:
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


def span(node: ast.AST) -> tuple[tuple[int, int], tuple[int, int]]:
    return (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


def statement_of(case: Case) -> Statement:
    """The statement in which the user asks for the op of a case."""
    frame = case.frame
    imports, known = (case.program.imports(frame), case.program.definitions(frame)) if frame else ({}, {})
    return Statement(case.statement, case.dialect, imports, known)
