"""Takes typed lines, with a menu of completions, the history by prefix and a ghost of what may follow."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.style import Style
from textual import events
from textual.binding import Binding
from textual.message import Message
from textual.strip import Strip
from textual.suggester import Suggester
from textual.widget import Widget
from textual.widgets import Input

from tdbg.shell.command import Completion
from tdbg.shell.line_history import LineHistory
from tdbg.shell.result import Span
from tdbg.shell.screen.theme import strip_of
from tdbg.shell.words import words_of

MENU_ROWS = 8


class FromHistory(Suggester):
    """Suggests the newest line that goes on like this one."""

    def __init__(self, history: LineHistory) -> None:
        super().__init__(use_cache=False, case_sensitive=True)
        self._history = history

    async def get_suggestion(self, value: str) -> str | None:
        return next((line for line in self._history.with_prefix(value) if line != value), None) if value else None


class Prompt(Input):
    """The line where commands are typed. What the app does with keys that are not the prompt's own is in the app's
    bindings."""

    BINDINGS: ClassVar = [
        Binding("up", "older", show=False),
        Binding("down", "newer", show=False),
        Binding("ctrl+r", "search_history", show=False),
        Binding("tab", "complete(1)", show=False),
        Binding("shift+tab", "complete(-1)", show=False),
    ]

    class Entered(Message):
        """Says that a line is whole; it is empty when Enter was pressed in an empty prompt."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class Completing(Message):
        """Says that Tab was pressed: what could stand here?"""

    class Moved(Message):
        """Says that a key moved the cursor while there was nothing to move in: it is for the output."""

        def __init__(self, way: str) -> None:
            super().__init__()
            self.way = way

    class Left(Message):
        """Says that Tab was pressed in an empty prompt: on to the links of the output, or (``by`` -1) to those above
        it."""

        def __init__(self, by: int) -> None:
            super().__init__()
            self.by = by

    def __init__(self, history: LineHistory) -> None:
        super().__init__(id="prompt", suggester=FromHistory(history), select_on_focus=False)
        self._history = history
        self._found: list[str] = []
        self._at = -1
        self._typed = ""

    def fill(self, text: str, cursor: int | None = None) -> None:
        self.value = text
        self.cursor_position = len(text) if cursor is None else cursor

    def _take(self) -> str:
        """Gives what was typed, and empties the prompt."""
        line = self.value.strip()
        self._history.add(line)
        self._at = -1
        self.fill("")
        return line

    def on_key(self, event: events.Key) -> None:
        if event.key not in ("up", "down"):
            self._at = -1
        if event.key == "enter":
            event.stop()  # here and now: as a binding it would come after what is typed or clicked next
            self._enter()

    def _enter(self) -> None:
        menu = self.screen.query_one(Menu)
        if menu.display:
            self.take_chosen(menu, menu.chosen)
        else:
            self.post_message(self.Entered(self._take()))

    def action_older(self) -> None:
        menu = self.screen.query_one(Menu)
        if menu.display:
            return menu.move(-1)
        if self._at < 0:
            self._typed, self._found = self.value, self._history.with_prefix(self.value)
        if self._at + 1 < len(self._found):
            self._at += 1
            self.fill(self._found[self._at])
        return None

    def action_newer(self) -> None:
        menu = self.screen.query_one(Menu)
        if menu.display:
            return menu.move(1)
        if self._at >= 0:
            self._at -= 1
            self.fill(self._found[self._at] if self._at >= 0 else self._typed)
        return None

    def action_search_history(self) -> None:
        """Ctrl-R: offers the lines of the history that hold what is typed; once more, the next older one."""
        menu = self.screen.query_one(Menu)
        if menu.display and menu.is_history:
            menu.move(1)
        else:
            self.offer_history()

    def offer_history(self) -> None:
        menu, found = self.screen.query_one(Menu), self._history.containing(self.value)
        if found:
            menu.open([Completion(line) for line in found], self.value, is_history=True)
        else:
            menu.close()

    def take_chosen(self, menu: Menu, text: str) -> None:
        """Takes what is chosen: a line of the history whole, or a completion for the word under the cursor."""
        menu.close()
        if menu.is_history:
            self.fill(text)
        else:
            self.accept(text, " ")

    def action_home(self, select: bool = False) -> None:
        super().action_home(select) if self.value else self.post_message(self.Moved("home"))

    def action_end(self, select: bool = False) -> None:
        super().action_end(select) if self.value else self.post_message(self.Moved("end"))

    def action_cursor_left(self, select: bool = False) -> None:
        super().action_cursor_left(select) if self.value else self.post_message(self.Moved("left"))

    def action_cursor_right(self, select: bool = False) -> None:
        super().action_cursor_right(select) if self.value else self.post_message(self.Moved("right"))

    def action_cursor_left_word(self, select: bool = False) -> None:
        super().action_cursor_left_word(select) if self.value else self.post_message(self.Moved("back"))

    def action_cursor_right_word(self, select: bool = False) -> None:
        super().action_cursor_right_word(select) if self.value else self.post_message(self.Moved("forward"))

    def action_complete(self, by: int) -> None:
        menu = self.screen.query_one(Menu)
        if menu.display:
            menu.move(by)
        elif self.value.strip():
            self.post_message(self.Completing())
        else:
            self.post_message(self.Left(by))

    def offer(self, line: str, found: Sequence[Completion], is_asked: bool) -> None:
        """Shows the menu. Who asked with Tab gets the only completion, or as much as all of them share."""
        menu = self.screen.query_one(Menu)
        if line != self.value[: self.cursor_position] or not found:
            return menu.close()
        if is_asked:
            if len(found) == 1:
                menu.close()
                return self.accept(found[0].text, " ")
            shared = _shared([one.text for one in found])
            if len(shared) > len(self._word()):
                self.accept(shared)
        menu.open(found, self.value)
        return None

    def accept(self, text: str, behind: str = "") -> None:
        """Puts a text in place of the word under the cursor."""
        before, after = self.value[: self.cursor_position], self.value[self.cursor_position :]
        start = len(before) - len(self._word(quoted=True))
        if " " in text and "[" not in text:
            text = f"'{text}'"
        if after.startswith(" "):
            behind = ""
        self.fill(before[:start] + text + behind + after, start + len(text + behind))

    def _word(self, quoted: bool = False) -> str:
        before = self.value[: self.cursor_position]
        words = words_of(before, is_whole=False)
        if not words or before[-1:].isspace():
            return ""
        return before[words[-1].start :] if quoted else words[-1].text


def _shared(texts: Sequence[str]) -> str:
    """Finds what all of them begin with."""
    first, last = min(texts), max(texts)
    same = next((n for n, (one, other) in enumerate(zip(first, last, strict=False)) if one != other), len(first))
    return first[:same]


class Menu(Widget):
    """Shows completions with what they mean, or lines of the history. ``at`` is the chosen one."""

    ALLOW_SELECT = False

    class Chosen(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="menu")
        self.display = False
        self.at = 0
        self.line = ""  # that it was opened for
        self.is_history = False
        self._offers: Sequence[Completion] = ()

    def open(self, offers: Sequence[Completion], line: str, is_history: bool = False) -> None:
        self._offers, self.at, self.line, self.is_history = offers, 0, line, is_history
        self.styles.height = min(len(offers), MENU_ROWS, max(self.app.size.height // 3, 3))
        self.display = True
        self.refresh()

    def close(self) -> None:
        self.display = False

    def move(self, by: int) -> None:
        self.at = (self.at + by) % max(len(self._offers), 1)
        self.refresh()

    @property
    def chosen(self) -> str:
        return self._offers[self.at].text

    @property
    def _first(self) -> int:
        return max(0, min(self.at - self.size.height // 2, len(self._offers) - self.size.height))

    def render_line(self, y: int) -> Strip:
        base, number = self.rich_style, self._first + y
        if number >= len(self._offers):
            return Strip.blank(self.size.width, base)
        one = self._offers[number]
        seen = self._offers[self._first : self._first + self.size.height]
        room = min(max(len(offer.text) for offer in seen), max(self.size.width - 12, 10))
        more = f" {self.at + 1} of {len(self._offers)} " if y == self.size.height - 1 and number != self.at else ""
        text = one.text if len(one.text) <= room else "…" + one.text[1 - room :]
        line = (Span(f" {text:{room}}  ", "name"), Span(one.description, "dim"))
        if number == self.at:
            base += Style(reverse=True)
        strip = strip_of(line, self.app.theme, base).adjust_cell_length(self.size.width - len(more), base)
        return Strip.join([strip, strip_of((Span(more, "dim"),), self.app.theme, base)])

    def on_click(self, event: events.Click) -> None:
        event.stop()
        if self._first + event.y < len(self._offers):
            self.post_message(self.Chosen(self._offers[self._first + event.y].text))
