"""A statement in; a softmax that is written with exponentials and their sum, with the expression that it is of, out."""

from __future__ import annotations

import ast

from tdbg.query.fixes.rewrite import Finder, Place, Statement, call, operands, picked_from

_SPREAD = ("tile", "expand_dims", "reshape", "broadcast_to", "maximum", "add", "stop_gradient")
_AXIS = ("axis", "reduction_indices", "dim")


def quotient(statement: Statement, node: ast.AST) -> Place | None:
    """``exp(x) / reduce_sum(exp(x), axis)``, also over several variables: the parts are x and ``, axis=...``."""
    pair = operands(statement, node)
    if pair is None:
        return None
    above, below = statement.seen(pair[0]), _sum_below(statement, pair[1])
    place = call("exp")(statement, above)
    if place is None or below is None:
        return None
    summed = statement.seen(below.args[0])
    if call("exp")(statement, summed) is None or ast.dump(above.args[0]) != ast.dump(summed.args[0]):  # type: ignore[attr-defined]
        return None
    axis = axis_of(statement, below)
    if axis is None:
        return None
    start, end = (node.lineno, node.col_offset), (node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]
    return Place(start, end, (place.parts[0], f", axis={axis}" if axis else ""), place.library)


def log_of(inner: Finder) -> Finder:
    """The log of what another finder finds."""

    def find(statement: Statement, node: ast.AST) -> Place | None:
        outer = call("log")(statement, node)
        if outer is None or outer.parts[1]:
            return None
        inside, around = picked_from(statement, node.args[0])  # type: ignore[attr-defined]
        place = inner(statement, inside)
        return Place(outer.start, outer.end, place.parts, place.library, around) if place else None

    return find


def _sum_below(statement: Statement, node: ast.AST) -> ast.Call | None:
    """The call of reduce_sum in a denominator, behind what spreads it to more elements or adds an epsilon."""
    for _ in range(8):
        node = statement.seen(node)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            node = node.left if statement.number(node.right) is not None else node.right
        elif isinstance(node, ast.Call) and node.args:
            name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            if name in ("reduce_sum", "sum"):
                return node
            if name not in _SPREAD:
                return None
            node = node.args[0]
        else:
            return None
    return None


def axis_of(statement: Statement, reduction: ast.Call) -> str | None:
    """The one axis of a sum, as text; "" when it has none, None when there are several or it cannot be told."""
    given = [keyword.value for keyword in reduction.keywords if keyword.arg in _AXIS] or reduction.args[1:2]
    if not given:
        return ""
    axis = given[0]
    if isinstance(axis, (ast.List, ast.Tuple)) and len(axis.elts) == 1:
        axis = axis.elts[0]
    value = statement.number(axis)
    return str(int(value)) if value is not None else None
