"""Makes HTML; every text is escaped unless it is HTML that was made here."""

from __future__ import annotations

import html
from typing import Any, NewType

Html = NewType("Html", str)

_VOID = frozenset({"meta", "br", "hr"})
# What a browser shows as nothing, or as the end of the text, or in another order: control and direction characters.
_HIDDEN = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), 127)}
_HIDDEN |= {code: f"\\u{code:04x}" for code in (*range(0x80, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A))}


class _Made(str):
    """HTML that was made by ``tag``."""

    __slots__ = ()


def text(value: object) -> Html:
    """Writes one text as HTML, whatever is in it."""
    if isinstance(value, _Made):
        return Html(value)
    plain = str(value).encode("utf-8", "backslashreplace").decode()
    return Html(_Made(html.escape(plain.translate(_HIDDEN))))


def tag(name: str, /, *children: Any, **attributes: Any) -> Html:
    """Writes an element: ``tag("td", 3, class_="number")``. None as a child or an attribute is left out."""
    words = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{text(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in _VOID:
        return Html(_Made(f"<{name}{words}>"))
    return Html(_Made(f"<{name}{words}>{join(*children)}</{name}>"))


def join(*children: Any) -> Html:
    return Html(_Made("".join(text(child) for child in children if child is not None)))


def raw(content: str) -> Html:
    """Takes HTML of tdbg's own as it is, such as its style sheet; never anything from a trace."""
    return Html(_Made(content))
