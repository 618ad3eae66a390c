"""Spans for both ends of a line in; one bar of the screen (title, menu, rule, keys) out, with links to click."""

from __future__ import annotations

from rich.segment import Segment
from textual import events
from textual.strip import Strip
from textual.widget import Widget

from tdbg.shell.result import Line, Span
from tdbg.shell.screen.output import Followed
from tdbg.shell.screen.theme import strip_of


class Bar(Widget):
    """``fill`` is drawn between both ends. Where there is no room for both, the left one is cut."""

    ALLOW_SELECT = False
    DEFAULT_CSS = "Bar { height: 1; }"

    def __init__(self, *, id: str, fill: str = " ") -> None:
        super().__init__(id=id)
        self._fill = fill
        self._left: Line = ()
        self._right: Line = ()

    def show(self, left: Line, right: Line = ()) -> None:
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def render_line(self, y: int) -> Strip:
        base, width = self.rich_style, self.size.width
        right = strip_of(self._right, self.app.theme, base)
        left = strip_of(self._left, self.app.theme, base)
        if right.cell_length >= width:
            right = Strip.blank(0)
        room = width - right.cell_length
        if left.cell_length > room - 1:
            left = Strip.join([left.crop(0, max(room - 2, 0)), Strip([Segment("…", base)])])
        filling = strip_of((Span(self._fill * max(room - left.cell_length, 0), "dim"),), self.app.theme, base)
        return Strip.join([left, filling, right]).adjust_cell_length(width, base)

    def on_click(self, event: events.Click) -> None:
        if link := event.style.meta.get("link"):
            event.stop()
            self.post_message(Followed(link))


def joined(spans: list[Span], between: str) -> Line:
    """Spans with a text between them."""
    found: list[Span] = []
    for span in spans:
        found += [Span(between, "dim"), span] if found else [span]
    return tuple(found)
