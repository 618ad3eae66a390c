"""Draws the scrolling part of the screen, with links for mouse and keyboard."""

from __future__ import annotations

from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from tdbg.shell.screen.line_pages import LinePages
from tdbg.shell.screen.theme import links_of, strip_of

_LOOK_AHEAD = 2000  # lines in which Tab looks for the next link


class Followed(Message):
    """Says that a link was clicked, or chosen with Enter."""

    def __init__(self, link: str) -> None:
        super().__init__()
        self.link = link


class Output(ScrollView, can_focus=True):
    """Draws only the lines that are seen. ``at`` is the link that the keyboard is at: its line, and which one there."""

    ALLOW_SELECT = False
    BINDINGS: ClassVar = [
        Binding("tab", "link(1)", show=False),
        Binding("shift+tab", "link(-1)", show=False),
        Binding("enter", "follow", show=False),
        Binding("left", "sideways('left')", show=False),
        Binding("right", "sideways('right')", show=False),
    ]

    class Moved(Message):
        """Says that other lines are seen now."""

    class Pressed(Message):
        """Says that a key was pressed that does not scroll: ``n`` and ``N`` go from match to match, ``left`` and
        ``right`` turn pages."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self) -> None:
        super().__init__(id="output")
        self.pages: LinePages | None = None
        self.at: tuple[int, int] | None = None
        self.marked = -1  # the line of the match that was gone to
        self._over: tuple[int, str] | None = None  # the line and link that the mouse is over

    def show(self, pages: LinePages, top: int, left: int = 0) -> None:
        self.pages, self.at, self._over, self.marked = pages, None, None, -1
        self._fit()
        self.go(top, left)
        self.refresh()

    def go(self, top: int, left: int | None = None) -> None:
        self.scroll_to(left, top, animate=False, force=True)
        self.call_after_refresh(self.scroll_to, left, top, animate=False, force=True)

    def loaded(self) -> None:
        """Draws again, because more lines are there."""
        self._fit()
        self.refresh()

    def _fit(self) -> None:
        if self.pages is not None:
            self.virtual_size = Size(self.pages.width, len(self.pages))

    @property
    def top(self) -> int:
        return int(self.scroll_offset.y)

    @property
    def rows(self) -> int:
        return self.scrollable_content_region.height

    def watch_scroll_y(self, old: float, new: float) -> None:
        super().watch_scroll_y(old, new)
        self.post_message(self.Moved())

    def render_line(self, y: int) -> Strip:
        left, top = self.scroll_offset
        number, width, base = top + y, self.size.width, self.rich_style
        if self.pages is None or number >= len(self.pages):
            return Strip.blank(width, base)
        line = self.pages.line(number)
        if line is None:
            return Strip([Segment("  ·", base + Style(dim=True))]).adjust_cell_length(width, base)
        if number == self.marked:
            base += Style(bgcolor=self.app.theme_variables["panel"])
        chosen = self.at[1] if self.at is not None and self.at[0] == number and self.has_focus else -1
        strip = strip_of(line, self.app.theme, base, chosen)
        if self._over is not None and self._over[0] == number:
            strip = _underlined(strip, self._over[1])
        return strip.crop_extend(left, left + width, base)

    def on_mouse_move(self, event: events.MouseMove) -> None:
        link = event.style.meta.get("link", "")
        over = (self.top + event.y, link) if link else None
        if over != self._over:
            self._over = over
            self.refresh()

    def on_leave(self) -> None:
        self._over = None
        self.refresh()

    def on_click(self, event: events.Click) -> None:
        if link := event.style.meta.get("link"):
            event.stop()
            self.post_message(Followed(link))

    def on_key(self, event: events.Key) -> None:
        if event.character in ("n", "N"):
            event.stop()
            self.post_message(self.Pressed(event.character))

    def on_focus(self) -> None:
        if self.at is None or not self.top <= self.at[0] < self.top + self.rows:
            self.at = None
            self.action_link(1)
        self.refresh()

    def on_blur(self) -> None:
        self.refresh()

    def action_sideways(self, key: str) -> None:
        self.post_message(self.Pressed(key))

    def action_follow(self) -> None:
        if self.pages is not None and self.at is not None:
            line = self.pages.line(self.at[0]) or ()
            links = links_of(line)
            if self.at[1] < len(links):
                self.post_message(Followed(links[self.at[1]].link))

    def action_link(self, by: int) -> None:
        """Goes to the next link, or the one before; from what is seen, when the present one is not."""
        found = self._link_after(by)
        if found is not None:
            self.at = found
            number = found[0]
            if number < self.top:
                self.go(number)
            elif number >= self.top + self.rows:
                self.go(number - self.rows + 1)
            self.refresh()

    def _link_after(self, by: int) -> tuple[int, int] | None:
        if self.pages is None:
            return None
        is_seen = self.at is not None and self.top <= self.at[0] < self.top + self.rows
        if is_seen and self.at is not None:
            number, place = self.at[0], self.at[1] + by
        else:
            number, place = (self.top, 0) if by > 0 else (min(self.top + self.rows, len(self.pages)) - 1, -1)
        for _ in range(_LOOK_AHEAD):
            if not 0 <= number < len(self.pages):
                return None
            links = links_of(self.pages.line(number) or ())
            if links and place == -1 and not (is_seen and self.at is not None and number == self.at[0]):
                return number, len(links) - 1
            if 0 <= place < len(links):
                return number, place
            number, place = number + by, 0 if by > 0 else -1
        return None


def _underlined(strip: Strip, link: str) -> Strip:
    return Strip(
        [
            Segment(text, style + Style(underline=True) if style and style.meta.get("link") == link else style, control)
            for text, style, control in strip
        ]
    )
