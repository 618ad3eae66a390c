"""Compares what two versions said, part by part."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def what_differs(before: Any, now: Any, place: str = "") -> Iterator[tuple[str, Any, Any]]:
    """(where, before, now) of each value that is another; what was not said before is no difference."""
    if isinstance(before, dict) and isinstance(now, dict):
        for key in before:
            yield from what_differs(before[key], now.get(key), f"{place}.{key}")
    elif isinstance(before, list) and isinstance(now, list) and len(before) == len(now):
        for at, (one, other) in enumerate(zip(before, now, strict=True)):
            yield from what_differs(one, other, f"{place}[{at}]")
    elif before != now:
        yield place, before, now
