"""Checks a filter or a pattern that somebody typed."""

from __future__ import annotations

import re

from tdbg import expressions
from tdbg.errors import TdbgError
from tdbg.scene import Scene


def check_filter(name: str, scene: Scene) -> None:
    """Checks a filter, which is the name of one or an expression; TdbgError when it is neither."""
    filters = scene.filters
    if name in filters:
        return
    if re.fullmatch(r"\w+", name) and name not in expressions.FIELDS:
        known = ", ".join(filters)
        raise TdbgError(f"tensor filter \"{name}\" does not exist; use {known}, or a condition such as 'nan > 0'")
    expressions.parse(name)


def check_pattern(pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise TdbgError(f"this is not a regular expression ({error}): {pattern}") from None
