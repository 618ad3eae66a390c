"""Finds the lines of a layout that match a regular expression, piece by piece on the worker."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from tdbg.shell.layout import Layout
from tdbg.shell.result import plain

_PIECE = 2000
_MOST = 100_000  # lines that are remembered; of more the first ones are


class Search:
    """One search. ``matches`` are line numbers in order; ``looked`` is how far it has come."""

    def __init__(self, pattern: str, layout: Layout) -> None:
        self.pattern = pattern
        self.matches: list[int] = []
        self.looked = 0
        self._expression = re.compile(pattern)
        self._layout, self._length = layout, len(layout)

    @property
    def is_done(self) -> bool:
        return self.looked >= self._length or len(self.matches) >= _MOST

    def look(self) -> int:
        """Searches the next piece, on the worker, and tells how far it has come."""
        end = min(self.looked + _PIECE, self._length)
        lines = self._layout.lines(self.looked, end)
        matches = (n for n, line in enumerate(lines, self.looked) if self._expression.search(plain(line)))
        self.matches += matches
        self.looked = end
        return end

    def after(self, line: int, by: int) -> int | None:
        """Finds the next match behind a line (or before it), round and round; None when there is none."""
        if not self.matches:
            return None
        at = bisect_right(self.matches, line) if by > 0 else bisect_left(self.matches, line) - 1
        return self.matches[at % len(self.matches)]

    def place(self, line: int) -> str:
        """Writes ``3 of 17``, or ``3 of 17+`` while it is looking."""
        count = f"{len(self.matches):,}{'' if self.looked >= self._length else '+'}"
        at = bisect_left(self.matches, line)
        return f"{at + 1:,} of {count}" if at < len(self.matches) and self.matches[at] == line else count
