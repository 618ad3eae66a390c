"""Lays out lines of text, wrapped where a width is given."""

from __future__ import annotations

import re

from tdbg.shell.result import Line, Span, Text, plain

_LEAST_WIDTH = 20
_GAP = re.compile(r"(?<=\S) {2,}(?=\S)")


class TextLayout:
    def __init__(self, text: Text, width: int | None) -> None:
        self._lines = list(text.lines) if width is None else [part for line in text.lines for part in wrap(line, width)]

    def __len__(self) -> int:
        return len(self._lines)

    def lines(self, first: int, last: int) -> list[Line]:
        return self._lines[first:last]


layout = TextLayout


def wrap(line: Line, width: int) -> list[Line]:
    """Cuts a line into pieces no wider than that, between words where there are some; what goes on stands under the
    last column that begins in the left half, else a little further in than the line."""
    whole, width = plain(line), max(width, _LEAST_WIDTH)
    if len(whole) <= width:
        return [line]
    columns = [gap.end() for gap in _GAP.finditer(whole[: width // 2 + 1])]
    indent = columns[-1] if columns else min(len(whole) - len(whole.lstrip()) + 2, width // 2)
    found, at, room = [], 0, width
    while len(whole) - at > room:
        space = whole.rfind(" ", at + room // 2, at + room + 1)
        end = space if space > at else at + room
        found.append(_cut(line, at, end, indent if at else 0))
        at, room = end + (space > at), width - indent
    found.append(_cut(line, at, len(whole), indent))
    return found


def _cut(line: Line, first: int, last: int, indent: int) -> Line:
    found, at = [Span(" " * indent)] if indent else [], 0
    for span in line:
        text = span.text[max(first - at, 0) : max(last - at, 0)]
        if text:
            found.append(span._replace(text=text))
        at += len(span.text)
    return tuple(found)
