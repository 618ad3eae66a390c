"""Draws the panel beside a tensor."""

from __future__ import annotations

from collections.abc import Sequence

from textual.strip import Strip
from textual.widget import Widget

from tdbg.shell.result import Line
from tdbg.shell.screen.tensor_view import PANEL_WIDTH
from tdbg.shell.screen.theme import strip_of


class Side(Widget):
    """Shows the numbers of a tensor that is shown."""

    ALLOW_SELECT = False

    def __init__(self) -> None:
        super().__init__(id="beside")
        self.styles.width = PANEL_WIDTH
        self.display = False
        self._lines: Sequence[Line] = ()

    def show(self, lines: Sequence[Line]) -> None:
        self._lines = lines
        self.refresh()

    def render_line(self, y: int) -> Strip:
        line = self._lines[y] if y < len(self._lines) else ()
        return strip_of(line, self.app.theme, self.rich_style).adjust_cell_length(self.size.width, self.rich_style)
