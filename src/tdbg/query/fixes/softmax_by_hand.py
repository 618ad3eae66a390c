"""Finds a softmax that is written with exponentials and their sum, and the expression that it is of."""

from __future__ import annotations

import ast

from tdbg.query.fixes.finders import Call, call_of, operands
from tdbg.query.fixes.statement import Place, Statement, span
from tdbg.vocabulary import Kind

# What spreads a sum to more elements, or keeps it above 0.
_SPREAD = (Kind.TILE, Kind.EXPAND_DIMS, Kind.RESHAPE, Kind.BROADCAST, Kind.MAXIMUM, Kind.ADD, Kind.STOP_GRADIENT)


def quotient(statement: Statement, node: ast.AST) -> Place | None:
    """``exp(x) / reduce_sum(exp(x), axis)``, also over several variables: the parts are x and ``, axis=...``."""
    found = _exponential_and_axis(statement, node)
    if found is None:
        return None
    above, axis = found
    return Place(*span(node), (statement.text(above.first), _along(statement, axis)), above.place().library)


def axis_of_quotient(statement: Statement, node: ast.AST) -> str | None:
    """The axis of such a softmax, "" when its sum has none; None when the expression is something else."""
    found = _exponential_and_axis(statement, node)
    return found[1] if found is not None else None


def _exponential_and_axis(statement: Statement, node: ast.AST) -> tuple[Call, str] | None:
    pair = operands(statement, node)
    if pair is None:
        return None
    above, below = call_of(statement, statement.seen(pair[0]), Kind.EXP), _sum_below(statement, pair[1])
    if above is None or below is None:
        return None
    summed = call_of(statement, statement.seen(below.first), Kind.EXP)
    axis = axis_of(below)
    if summed is None or axis is None or ast.dump(above.first) != ast.dump(summed.first):
        return None
    return above, axis


def _along(statement: Statement, axis: str) -> str:
    dialect = statement.dialect
    return f", {dialect.axis_names[0]}={axis}" if axis else dialect.no_axis


def _sum_below(statement: Statement, node: ast.expr) -> Call | None:
    """The sum in a denominator, behind what spreads it to more elements or adds an epsilon."""
    for _ in range(8):
        node = statement.seen(node)
        found = call_of(statement, node, Kind.SUM)
        if found is not None and isinstance(found.node.func, ast.Attribute):  # not Python's own sum
            return found
        spread = call_of(statement, node, *_SPREAD)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node = node.left if statement.number(node.right) is not None else node.right
        elif spread is not None:
            node = spread.first
        else:
            return None
    return None


def axis_of(reduction: Call) -> str | None:
    """The one axis of a sum, as text; "" when it has none, None when there are several or it cannot be told."""
    names, keywords = reduction.statement.dialect.axis_names, reduction.node.keywords
    given = [keyword.value for keyword in keywords if keyword.arg in names] or reduction.arguments[1:2]
    if not given:
        return ""
    axis = given[0]
    if isinstance(axis, (ast.List, ast.Tuple)) and len(axis.elts) == 1:
        axis = axis.elts[0]
    value = reduction.statement.number(axis)
    return str(int(value)) if value is not None else None
