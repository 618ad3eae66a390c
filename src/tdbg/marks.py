"""Writes texts with marks such as … and → so that a terminal or stream can show them, with ASCII marks if need be.

Python writes UTF-8 also where the user's locale is C, so the encoding of a stream does not tell what a terminal shows.
"""

from __future__ import annotations

import codecs
import os
import unicodedata
from typing import Any

ERRORS = "tdbg.marks"  # the name of the error handler, for encode() and reconfigure()
_MARKS = dict(
    zip(
        "…·─→←↑↔▶◀●○┤│–“”µ×²∞±█▉▊▋▌▇▆▅▍▎▏▄▃▂▁⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
        "~:-><^=><*o||-''ux2~~########+++++__|/-\\|/-\\|/",
        strict=True,
    )
)
_COERCED = ("C.UTF-8", "C.utf8", "UTF-8")  # what Python makes of LC_CTYPE when LANG is C


def terminal_encoding() -> str:
    """utf-8, unless the user's locale says that the terminal shows something else."""
    names = [os.environ.get(name, "") for name in ("LC_ALL", "LC_CTYPE", "LANG")]
    if not names[0] and names[1] in _COERCED and names[2]:
        names[1] = ""
    said = next(filter(None, names), "UTF-8")
    return "utf-8" if "utf" in said.lower() else "ascii"


def encoding_of(stream: Any) -> str:
    """What can be written to a stream and, if it is a terminal, be seen there."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8") and stream.isatty():
        return terminal_encoding()
    return encoding


def fitting(text: str, stream: Any) -> str:
    """The text with what the stream can show."""
    if text.isascii():
        return text
    encoding = encoding_of(stream)
    return text.encode(encoding, ERRORS).decode(encoding)


def fit(*streams: Any) -> None:
    """From now on these streams write what they can show, and fail at no character."""
    for stream in streams:
        if stream is not None and hasattr(stream, "reconfigure") and not stream.closed:
            stream.reconfigure(encoding=encoding_of(stream), errors=ERRORS)


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """As wide as what it stands for."""
    assert isinstance(error, UnicodeEncodeError)
    letters = error.object[error.start : error.end]
    found = [_MARKS.get(one) or ("??" if unicodedata.east_asian_width(one) in "WF" else "?") for one in letters]
    return "".join(found), error.end


codecs.register_error(ERRORS, _in_ascii)
