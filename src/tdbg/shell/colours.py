"""Writes lines of spans as text, with the terminal's colours or without any."""

from __future__ import annotations

import os
from typing import TextIO

from tdbg.shell.result import Line, plain

# Roles of result.STYLES as SGR codes: NaN magenta, infinite orange, zero grey, negative blue, positive green.
CODES = {
    "title": "1",
    "dim": "2",
    "name": "4",
    "op": "36",
    "file": "36",
    "code": "",
    "number": "",
    "nan": "1;35",
    "inf": "1;38;5;208",
    "zero": "90",
    "negative": "34",
    "positive": "32",
    "good": "32",
    "warning": "33",
    "error": "1;31",
    "match": "30;43",
    "user": "1",
}
_SYMBOLS = {number: 0x2400 + number for number in range(32) if chr(number) != "\t"} | {0x7F: 0x2421}


def has_colours(stream: TextIO | None) -> bool:
    """Whether to write in colour: on a terminal that is not dumb, unless NO_COLOR says otherwise."""
    return (
        stream is not None
        and stream.isatty()
        and not os.environ.get("NO_COLOR")
        and os.environ.get("TERM") not in ("dumb", None)
    )


def written(line: Line, in_colour: bool) -> str:
    """Writes a line. Control characters in a name must not reach the terminal: they are shown as symbols."""
    if not in_colour:
        return plain(line).rstrip().translate(_SYMBOLS)
    return "".join(_coloured(span.text.translate(_SYMBOLS), CODES.get(span.style, "")) for span in line)


def _coloured(text: str, code: str) -> str:
    return f"\x1b[{code}m{text}\x1b[0m" if code else text
