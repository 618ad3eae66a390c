"""Puts pieces of Python together to larger ones: finished, or templates with blanks such as ``{0}``."""

from __future__ import annotations

import ast
import re

_SIMPLE = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)
_BLANK = re.compile(r"\{(\w+)[^{}]*\}")


class Code(str):
    """An expression; in a template ``{0.operand}`` is its operand."""

    __slots__ = ()

    @property
    def operand(self) -> str:
        """The same where an operator, or a method's dot, stands beside it: in brackets where it needs them."""
        return self if _is_simple(self) else f"({self})"


class Template(str):
    """An expression with blanks: ``{0}``, ``{1}`` … for its parts, ``{library}`` for the name of a framework."""

    __slots__ = ()

    @property
    def operand(self) -> str:
        blank = _BLANK.fullmatch(self)
        if blank is not None:
            return f"{{{blank[1]}.operand}}"
        return self if not self or _is_simple(_BLANK.sub("part", self)) else f"({self})"


def _is_simple(code: str) -> bool:
    try:
        return isinstance(ast.parse(code, mode="eval").body, _SIMPLE)
    except (SyntaxError, ValueError):
        return False
