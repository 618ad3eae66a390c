"""Counts the cells of a terminal that a text takes: two for a wide letter, none for a mark above another."""

from __future__ import annotations

from unicodedata import combining, east_asian_width


def cells_of(text: str) -> int:
    if text.isascii():
        return len(text)
    return sum(0 if combining(letter) else 2 if east_asian_width(letter) in "WF" else 1 for letter in text)
