"""Finds the name that is most like one that is not there, quickly even among many thousands."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_COMPARED = 60  # how many of the likeliest are compared in earnest


def did_you_mean(name: str, names: Iterable[str], ending: str = "") -> str:
    """Asks ``did you mean 'hidden/Relu:0'?``; "" when nothing is near."""
    found = nearest(name, names)
    return f"did you mean {found + ending!r}?" if found else ""


def nearest(name: str, names: Iterable[str]) -> str:
    """Finds the name that is most alike, "" when none is: by what both begin and end with first, which a slip leaves as
    it is, then by their last parts."""
    names = list(names)
    likely = sorted(names, key=lambda other: -_alike(name, other))[:_COMPARED]
    found = difflib.get_close_matches(name, likely, 1)
    if found:
        return found[0]
    last = name.rpartition("/")[2].lower()
    same = [other for other in names if other.rpartition("/")[2].lower() == last]
    return min(same, key=len) if same and last else ""


def _alike(one: str, other: str) -> float:
    """Gives the share of both that is the same from the beginning or to the end."""
    short = min(len(one), len(other))
    first = 0
    while first < short and one[first] == other[first]:
        first += 1
    last = 0
    while last < short - first and one[-1 - last] == other[-1 - last]:
        last += 1
    return 2 * (first + last) / (len(one) + len(other) or 1)
