"""Draws a bar of the screen (title, menu, rule, keys) with a text at either end and links to click."""

from __future__ import annotations

from typing import ClassVar

from rich.cells import cell_len
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.strip import Strip
from textual.widget import Widget

from tdbg.shell.result import Line, Span
from tdbg.shell.screen.output import Followed
from tdbg.shell.screen.theme import links_of, strip_of


class Bar(Widget):
    """One bar. ``fill`` is drawn between both ends. Where there is no room for both, the left one is cut."""

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
        left = self._left_strip(base)
        if right.cell_length >= width:
            right = Strip.blank(0)
        room = width - right.cell_length
        if left.cell_length > room - 1:
            left = Strip.join([left.crop(0, max(room - 2, 0)), Strip([Segment("…", base)])])
        filling = strip_of((Span(self._fill * max(room - left.cell_length, 0), "dim"),), self.app.theme, base)
        return Strip.join([left, filling, right]).adjust_cell_length(width, base)

    def _left_strip(self, base: Style) -> Strip:
        return strip_of(self._left, self.app.theme, base)

    def on_click(self, event: events.Click) -> None:
        if link := event.style.meta.get("link"):
            event.stop()
            self.post_message(Followed(link))


class Links(Bar, can_focus=True):
    """A bar whose links the keyboard can go through; ``at`` is the one that it is at."""

    BINDINGS: ClassVar = [
        Binding("right,tab", "move(1)", show=False),
        Binding("left,shift+tab", "move(-1)", show=False),
        Binding("enter", "follow", show=False),
    ]

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self.at = 0

    def _left_strip(self, base: Style) -> Strip:
        if not self.has_focus:
            return super()._left_strip(base)
        end = sum(cell_len(span.text) for span in self._left[: 2 * self.at + 1])
        strip = strip_of(self._left, self.app.theme, base, self.at)
        return strip.crop(max(0, end - self.size.width + 2))

    def on_focus(self) -> None:
        self.at = 0
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_move(self, by: int) -> None:
        self.at = (self.at + by) % max(len(links_of(self._left)), 1)
        self.refresh()

    def action_follow(self) -> None:
        self.post_message(Followed(links_of(self._left)[self.at].link))


def joined(spans: list[Span], between: str) -> Line:
    """Puts a text between spans."""
    found: list[Span] = []
    for span in spans:
        found += [Span(between, "dim"), span] if found else [span]
    return tuple(found)
