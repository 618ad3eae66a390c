"""Lays a Result out in lines of some width, made as they are asked for.

Each kind of block has a layout in a file of its own, with ``len()`` and ``lines(first, last)``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from itertools import accumulate, pairwise
from typing import Protocol

from tdbg.shell.result import Array, Block, Line, Plot, Result, Span, Table, Text, plain

# A module with a function ``layout(block, width)``.
MODULES: dict[type, str] = {
    Text: "tdbg.shell.text_layout",
    Table: "tdbg.shell.table_layout",
    Array: "tdbg.shell.array_layout",
    Plot: "tdbg.shell.plot_layout",
}
_PAGE = 1000


class BlockLayout(Protocol):
    def __len__(self) -> int: ...

    def lines(self, first: int, last: int) -> list[Line]:
        """Gives the lines from the first on, before the last; fewer where there are no more."""


def block_layout(block: Block, width: int | None) -> BlockLayout:
    return import_module(MODULES[type(block)]).layout(block, width)


class Layout:
    """The lines of all blocks of a result. ``width`` None: nothing is cut or wrapped, as on a pipe."""

    def __init__(self, result: Result, width: int | None = None) -> None:
        self.result, self.width = result, width
        self.blocks = [block_layout(block, width) for block in result.blocks]
        self.starts = [0, *accumulate(len(block) for block in self.blocks)]  # the first line of each; the end
        self._search = re.compile(result.search) if result.search else None

    def __len__(self) -> int:
        return self.starts[-1]

    def lines(self, first: int, last: int) -> list[Line]:
        found: list[Line] = []
        for block, start in zip(self.blocks, self.starts, strict=False):
            begin, end = max(first - start, 0), min(last - start, len(block))
            if begin < end:
                found += block.lines(begin, end)
        return [_marked(line, self._search) for line in found] if self._search else found

    def __iter__(self) -> Iterator[Line]:
        for first in range(0, len(self), _PAGE):
            yield from self.lines(first, first + _PAGE)

    def plain(self) -> Iterator[str]:
        """The lines without styles and links."""
        return (plain(line).rstrip() for line in self)

    def find(self, pattern: re.Pattern[str], first: int = 0) -> int | None:
        """Finds the next line that matches, from ``first`` on and then from the beginning; None when there is none."""
        for begin, end in ((first, len(self)), (0, min(first, len(self)))):
            for page in range(begin, end, _PAGE):
                for number, line in enumerate(self.lines(page, min(page + _PAGE, end)), page):
                    if pattern.search(plain(line)):
                        return number
        return None


def _marked(line: Line, search: re.Pattern[str]) -> Line:
    """Puts what matches into spans of style ``match``, across the borders of the line's spans."""
    places = [match.span() for match in search.finditer(plain(line)) if match.end() > match.start()]
    if not places:
        return line
    found: list[Span] = []
    at = 0
    for span in line:
        end = at + len(span.text)
        cuts = sorted({at, end, *(place for pair in places for place in pair if at < place < end)})
        for begin, stop in pairwise(cuts):
            is_match = any(first <= begin < last for first, last in places)
            style = "match" if is_match else span.style
            found.append(Span(span.text[begin - at : stop - at], style, span.link))
        at = end
    return tuple(found)
