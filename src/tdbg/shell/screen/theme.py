"""Colours spans for Textual: roles become colours here, for dark and light terminals.

NaN is magenta, infinite orange, zero grey, negative blue, positive green; everything else is quiet.
"""

from __future__ import annotations

import os
import re
from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual.strip import Strip
from textual.theme import Theme

from tdbg.shell.result import Line, Span

DARK = Theme(
    name="tdbg-dark",
    dark=True,
    primary="#7cb7ff",
    secondary="#5d6b7e",
    accent="#ffb454",
    foreground="#d6dae0",
    background="#12151a",
    surface="#191d24",
    panel="#222833",
    success="#63c174",
    warning="#e3b341",
    error="#ff6b6b",
)
LIGHT = Theme(
    name="tdbg-light",
    dark=False,
    primary="#0b5cad",
    secondary="#6b7686",
    accent="#b35900",
    foreground="#1f2328",
    background="#ffffff",
    surface="#f3f5f8",
    panel="#e4e9f0",
    success="#1a7f37",
    warning="#8a6100",
    error="#c4202d",
)
ROLES = {
    "tdbg-dark": {
        "title": "bold #f2f4f7",
        "dim": "#7f8a99",
        "name": "#8fc3ff",
        "op": "#c8a7f5",
        "file": "#9fd8e6",
        "code": "#d6dae0",
        "number": "#d6dae0",
        "nan": "bold #ff79e1",
        "inf": "bold #ff9f43",
        "zero": "#7f8a99",
        "negative": "#6aa9ff",
        "positive": "#63c174",
        "good": "#63c174",
        "warning": "#e3b341",
        "error": "bold #ff6b6b",
        "match": "#12151a on #ffd866",
        "user": "bold #ffb454",
        "link": "underline #8fc3ff",
        "key": "bold #ffb454",
    },
    "tdbg-light": {
        "title": "bold #11151a",
        "dim": "#626d7c",
        "name": "#0b5cad",
        "op": "#6b3fb0",
        "file": "#0c6579",
        "code": "#1f2328",
        "number": "#1f2328",
        "nan": "bold #b3159a",
        "inf": "bold #b35900",
        "zero": "#626d7c",
        "negative": "#0b5cad",
        "positive": "#1a7f37",
        "good": "#1a7f37",
        "warning": "#8a6100",
        "error": "bold #c4202d",
        "match": "#11151a on #ffd866",
        "user": "bold #b35900",
        "link": "underline #0b5cad",
        "key": "bold #b35900",
    },
}
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f-\x9f]")


@lru_cache(2048)
def style_of(role: str, link: str, theme: str) -> Style:
    """Gives the look of a span; its link travels in the cells' meta, where a click finds it."""
    roles = ROLES.get(theme, ROLES["tdbg-dark"])
    style = Style.parse(roles.get(role, "")) if role else Style.null()
    return style + Style(meta={"link": link}) if link else style


def visible(text: str) -> str:
    """Makes a text harmless: nothing in a name or a program's text may move the cursor."""
    return _CONTROL.sub("�", text.replace("\t", "    "))


def visible_lines(text: str) -> str:
    return "\n".join(visible(line) for line in text.splitlines())


def preferred() -> str:
    """Chooses the colours that suit the terminal, where it tells its background (COLORFGBG); else the dark ones."""
    background = os.environ.get("COLORFGBG", "").rpartition(";")[2]
    return LIGHT.name if background in ("7", "15") else DARK.name


def strip_of(line: Line, theme: str, base: Style, chosen: int = -1) -> Strip:
    """Draws a line. ``chosen``: which of its links the keyboard is at, -1 for none."""
    segments = []
    link = -1
    for span in line:
        style = base + style_of(span.style, span.link, theme)
        if span.link:
            link += 1
            if link == chosen:
                style += Style(reverse=True)
        segments.append(Segment(visible(span.text), style))
    return Strip(segments)


def links_of(line: Line) -> list[Span]:
    return [span for span in line if span.link]
