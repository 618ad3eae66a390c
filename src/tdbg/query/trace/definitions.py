"""Finds the names that stand for one expression each at a line of a file.

A name does if its scope assigns it once, before that line, an expression that gives the same when it is written again.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Collection, Iterator

Definitions = dict[str, ast.expr]

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_REPEATABLE = (
    ast.Name, ast.Attribute, ast.Constant, ast.BinOp, ast.UnaryOp, ast.Subscript, ast.Slice, ast.Call, ast.keyword,
    ast.Tuple, ast.List, ast.operator, ast.unaryop, ast.expr_context,
)  # fmt: skip


def definitions(tree: ast.Module, line: int, repeatable: Collection[str]) -> Definitions:
    """Finds them for a line of a file. ``repeatable``: functions that give the same each time they are called."""
    scope = _scope_at(tree, line)
    found = _defined(scope, repeatable, line)
    if scope is not tree:  # constants of the module, such as an epsilon
        bound = _bound(scope)
        constants = {name: value for name, value in _defined(tree, ()).items() if isinstance(value, ast.Constant)}
        found = {name: value for name, value in constants.items() if name not in bound} | found
    return found


def _scope_at(tree: ast.Module, line: int) -> ast.AST:
    around = [
        node
        for node in ast.walk(tree)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return max(around, key=lambda node: node.lineno, default=tree)


def _defined(scope: ast.AST, repeatable: Collection[str], before: int | None = None) -> Definitions:
    bound = _bound(scope)
    found: Definitions = {}
    for node in _inside(scope):
        if not isinstance(node, ast.Assign) or len(node.targets) != 1 or (before and (node.end_lineno or 0) >= before):
            continue
        for name, value in _assigned(node.targets[0], node.value):
            used = {one.id for one in ast.walk(value) if isinstance(one, ast.Name)}
            is_same = all(len(lines := bound.get(one, [])) < 2 and max(lines, default=0) < node.lineno for one in used)
            if len(bound[name]) == 1 and is_same and _is_repeatable(value, repeatable):
                found[name] = value
    return found


def _assigned(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Takes apart ``a = x`` and ``a, b = x, y``."""
    if isinstance(target, ast.Name):
        yield target.id, value
    elif isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts):
        for one, part in zip(target.elts, value.elts, strict=True):
            yield from _assigned(one, part)


def _is_repeatable(value: ast.expr, functions: Collection[str]) -> bool:
    for node in ast.walk(value):
        if not isinstance(node, _REPEATABLE):
            return False
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name not in functions or any(isinstance(argument, ast.Starred) for argument in node.args):
                return False
    return True


def _inside(scope: ast.AST) -> Iterator[ast.AST]:
    """Walks through a scope, but not through the functions and classes within it."""
    for node in ast.iter_child_nodes(scope):
        yield node
        if not isinstance(node, _SCOPES):
            yield from _inside(node)


def _bound(scope: ast.AST) -> dict[str, list[int]]:
    """Finds the lines on which a scope binds each name."""
    found: dict[str, list[int]] = defaultdict(list)
    for node in _inside(scope):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found[node.id].append(node.lineno)
        elif isinstance(node, ast.arg):
            found[node.arg].append(node.lineno - 1)  # a function on one line has them before its statements
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            found[node.name].append(node.lineno)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            for name in node.names:
                found[name] += [node.lineno] * 2  # others may write it
        elif isinstance(node, ast.alias):
            found[(node.asname or node.name).partition(".")[0]].append(node.lineno)
    return dict(found)
