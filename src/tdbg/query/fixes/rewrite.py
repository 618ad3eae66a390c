"""Rewrites one expression of a user's statement.

Only where exactly one place fits, so that nothing is guessed; all other characters stay as they are.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tdbg.frameworks.code import Code
from tdbg.query.fixes.statement import Finder, Place, Statement, span

_LONGEST = 12  # lines
_FUNCTION = re.compile(r"\{library\}\.([\w.]+)")  # of a template


@dataclass(frozen=True, slots=True)
class Target:
    """Which of several places is meant: the one that gave op number ``at`` of the ``count`` that the statement made."""

    find: Finder
    at: int
    count: int

    def place(self, whole: Statement) -> Place | None:
        """None when that cannot be told."""
        places = _places(whole, self.find)
        # A statement that ran several times made as many ops at each place.
        if not places or not self.count or self.count % len(places):
            return None
        return places[self.at % len(places)]


def rewrite(whole: Statement, find: Finder, template: str, target: Target | None = None) -> str:
    """The statement with the only place that ``find`` finds replaced; "" when there is none, or more than one and no
    target tells which.

    In the template ``{0}``, ``{1}`` … are the place's parts, ``{0.operand}`` … the same in brackets where they need
    them, and ``{library}`` is the library that the user calls there. An empty template cannot be written.
    """
    if not template or whole.tree is None or len(whole.lines) > _LONGEST:
        return ""
    place = _only_place(whole, find, target)
    if place is None:
        return ""
    owner = _owner(whole, place, template)
    text = template.format(*map(Code, place.parts), library=owner)
    changed = whole.replaced(place, place.around[0] + _fitting(text, whole, place) + place.around[1])
    try:
        ast.parse(changed)
    except (SyntaxError, ValueError):
        return ""
    return changed if owner or "{library}" not in template else ""


def _only_place(whole: Statement, find: Finder, target: Target | None) -> Place | None:
    places = _places(whole, find)
    wanted = target.place(whole) if target is not None else None
    if target is not None and wanted is None and len(_places(whole, target.find)) > 1:
        return None
    if wanted is not None:
        places = [place for place in places if place.start <= wanted.start and wanted.end <= place.end][:1]
    return places[0] if len(places) == 1 else None


def _owner(whole: Statement, place: Place, template: str) -> str:
    """The library of the template's functions: the one that is called there, if that has them all."""
    dialect = whole.dialect
    is_stand_in = place.library.rpartition(".")[2] in dialect.stand_ins
    if is_stand_in and not dialect.stand_ins_have.issuperset(_FUNCTION.findall(template)):
        return whole.library
    return place.library or whole.library


def _places(whole: Statement, find: Finder) -> list[Place]:
    """In the order in which Python computes them."""
    assert whole.tree is not None
    return [place for node in _inner_first(whole.tree) if (place := find(whole, node)) is not None]


def _inner_first(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        yield from _inner_first(child)
    yield node


def _fitting(text: str, whole: Statement, place: Place) -> str:
    """In brackets where what stands beside it binds more than what it is made of."""
    before, after = place.around
    if after.startswith((".", "[")) or before.endswith("/ "):
        return Code(text).operand
    return text if before or after else _as_operand(text, whole, place)


def _as_operand(text: str, whole: Statement, place: Place) -> str:
    """In brackets where a call becomes something that binds less."""
    assert whole.tree is not None
    calls = [node for node in ast.walk(whole.tree) if isinstance(node, ast.Call)]
    try:
        made = ast.parse(text, mode="eval").body
    except SyntaxError:
        return text
    is_open = isinstance(made, ast.BinOp) and made.col_offset == 0
    return f"({text})" if is_open and any(span(node) == (place.start, place.end) for node in calls) else text
