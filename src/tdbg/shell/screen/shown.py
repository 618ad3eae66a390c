"""Prepares all that the screen draws of a result, in the room there is. Made on the worker."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from tdbg.shell.layout import Layout
from tdbg.shell.result import Line, Result
from tdbg.shell.screen.line_pages import LinePages
from tdbg.shell.screen.search import Search
from tdbg.shell.screen.tensor_view import PANEL_WIDTH, View, beside, has_numbers
from tdbg.shell.screen.worker import Worker

WITH_PANEL = 100  # from this width on there is room beside a tensor


@dataclass
class Shown:
    """What the screen draws of a result. ``line`` is the command that gave it. ``is_aside``: it is not one of the
    screens that were visited."""

    line: str
    result: Result
    pages: LinePages
    room: int  # the width that there was for output and panel together
    width: int
    view: View | None = None
    has_panel: bool = False
    search: Search | None = None
    is_aside: bool = False


class Room:
    """Lays results out for the screen as it is now; ``width`` and ``height`` are those of output and panel together."""

    def __init__(self, worker: Worker, on_ready: Callable[[], None]) -> None:
        self.width, self.height = 80, 20
        self._worker, self._on_ready = worker, on_ready

    def lay_out(self, line: str, result: Result, view: View | None) -> Shown:
        room = self.width  # it may change meanwhile
        has_panel = view is not None and room >= WITH_PANEL and has_numbers(view.shown)
        width = room - (PANEL_WIDTH if has_panel else 0) - 1
        pages = LinePages(Layout(result, width), self._worker, self._on_ready)
        pages.load(result.top - 1, self.height + 2)
        return Shown(line, result, pages, room, width, view, has_panel)


def beside_of(shown: Shown) -> list[Line]:
    """Writes what stands beside a tensor that is shown."""
    return beside(shown.view.shown, PANEL_WIDTH - 2) if shown.view else []
