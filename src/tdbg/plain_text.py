"""Makes a text from somewhere else one that no terminal and no browser obeys: escapes, not control characters.

Whoever writes a trace chooses the names in it. An escape sequence could clear a terminal or type on it, a direction
mark could turn a file's name around, and a newline could make one line look like two. So texts are cleaned where they
are read, and all that shows them can rely on it.
"""

from __future__ import annotations

import re
from typing import Any

_HIDDEN = "\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff"
_IN_LINES = re.compile(f"[{_HIDDEN}]|[\ud800-\udfff]")
_IN_NAMES = re.compile(f"[{_HIDDEN}\t\n]|[\ud800-\udfff]")


def plain(text: str, lines: bool = False) -> str:
    """With ``lines`` it may have several, and tabs."""
    if text.isascii() and text.isprintable():
        return text
    text = text.replace("\r\n", "\n") if lines else text
    return (_IN_LINES if lines else _IN_NAMES).sub(_escape, text)


def all_plain(content: Any) -> Any:
    """The same of every text in what JSON held."""
    if isinstance(content, str):
        return plain(content, lines=True)
    if isinstance(content, list):
        return [all_plain(one) for one in content]
    if isinstance(content, dict):
        return {plain(str(key)): all_plain(one) for key, one in content.items()}
    return content


def _escape(found: re.Match[str]) -> str:
    code = ord(found[0])
    if found[0] in "\n\t":
        return "\\n" if found[0] == "\n" else "\\t"
    return f"\\x{code:02x}" if code < 0x80 else f"\\u{code:04x}"
