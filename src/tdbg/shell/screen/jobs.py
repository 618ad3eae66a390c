"""Does what the screen asks for, all on the worker: performs lines, lays out results, turns pages of tensors."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from tdbg.capture.control import Pause
from tdbg.scene import Moment, Scene
from tdbg.shell.command import Completion
from tdbg.shell.engine import Engine
from tdbg.shell.result import Array, Result, Span, Text
from tdbg.shell.screen.search import Search
from tdbg.shell.screen.shown import Room, Shown
from tdbg.shell.screen.tensor_view import View, view_of
from tdbg.shell.screen.worker import Worker

_KEPT = 200


class Outcome(NamedTuple):
    """What came of a line. ``shown`` is None when there is nothing to show: an error, a question, the end."""

    result: Result
    shown: Shown | None


class Jobs:
    """The jobs of one screen: it has the engine, and the room that results have on the screen."""

    def __init__(self, engine: Engine) -> None:
        self.engine, self.worker = engine, Worker()
        self.on_ready: Callable[[], None] = lambda: None  # called, on the worker, when more lines are there
        self.room = Room(self.worker, lambda: self.on_ready())
        self.ahead: Future | None = None  # the first outcome, where it was begun before there was a screen
        self._counted: tuple[Scene, int] | None = None  # how many tensors there were
        self._views: dict[int, tuple[Array, View]] = {}  # by the array that shows a part of one

    def begin_ahead(self, pause: Pause | None, first: str) -> None:
        """Begins while the screen is being loaded, which takes as long; it will be as large as the terminal is now."""
        self.room.width, self.room.height = shutil.get_terminal_size()
        job = partial(self.perform, first) if pause is None else partial(self.begin, pause)
        self.ahead = self.worker.submit(job)

    def begin(self, pause: Pause) -> Outcome:
        """Prepares what a held program is shown with: the lines that it says, then those of its first command."""
        outcome = self.perform(pause.first or "run_info")
        said = Text([(Span(line),) for line in pause.lines], list(pause.lines))
        if not pause.lines:
            return outcome
        before = [said, Text([()])] if outcome.result.blocks else [said]
        result = replace(outcome.result, blocks=[*before, *outcome.result.blocks], is_error=False)
        if self.engine.visited.shown and not outcome.result.is_error:
            self.engine.visited.replace(result)
        return Outcome(result, self._lay_out(pause.first, result))

    def perform(self, line: str) -> Outcome:
        result = self._go_to_element(line) if line.startswith("@") else self.engine.execute(line)
        if result.is_error or result.asks or result.action or not result.blocks:
            return Outcome(result, None)
        shown = self.engine.visited.shown
        return Outcome(result, self._lay_out(shown.line if shown and shown.result is result else line, result))

    def _go_to_element(self, line: str) -> Result:
        """Goes to an element. Where only its neighbours are shown then, pages and numbers stay those of the whole."""
        screen = self.engine.visited.shown
        view = self._view_in(screen.result) if screen else None
        if screen is not None and view is not None:
            self.engine.visited.replace(replace(view.result(), search=screen.result.search))
        result = self.engine.execute(line)
        found = view_of(result)
        if view is not None and found is not None and found.array is not view.shown:
            self._keep(found.array, view)
        return result

    def look(self) -> int:
        """Reads what a program has recorded since it was last looked at, and counts those tensors."""
        scene, before = self.engine.scene, self._counted
        if before is not None and before[0] is scene and not scene.refresh():
            return 0
        self._counted = (scene, sum(moment.tensors for moment in scene.moments()))
        return max(self._counted[1] - before[1], 0) if before is not None and before[0] is scene else 0

    def aside(self, title: str, result: Result) -> Shown:
        """Lays out something that is not one of the screens visited."""
        shown = self._lay_out(title, result)
        shown.is_aside = True
        return shown

    def again(self, shown: Shown) -> Shown:
        """Lays the same out in another room."""
        new = self._lay_out(shown.line, shown.result)
        new.is_aside = shown.is_aside
        if shown.search is not None:
            new.search = Search(shown.search.pattern, new.pages.layout)
            while not new.search.is_done and new.search.looked < shown.search.looked:
                new.search.look()
        return new

    def visited(self) -> Shown | None:
        """Lays out the screen that the engine is at."""
        screen = self.engine.visited.shown
        return self._lay_out(screen.line, screen.result) if screen else None

    def sought(self, shown: Shown, pattern: str) -> Shown:
        """Lays the same out with its matches marked (an empty pattern: with none); nothing is found yet."""
        new = self._changed(shown, replace(shown.result, search=pattern))
        new.search = Search(pattern, new.pages.layout) if pattern else None
        return new

    def turned(self, shown: Shown, by: int) -> Shown:
        """Goes to another page of a tensor's leading dimensions."""
        if shown.view is None or not shown.view.pages:
            return shown
        view = shown.view.turned(by)
        self._keep(view.shown, view)
        return self._changed(shown, replace(view.result(), search=shown.result.search, top=0))

    def complete(self, line: str) -> list[Completion]:
        return self.engine.complete(line)

    def moments(self) -> list[Moment]:
        return list(self.engine.scene.moments())

    def _changed(self, shown: Shown, result: Result) -> Shown:
        """Changes the screen that is shown, also for when it is come back to."""
        if not shown.is_aside and self.engine.visited.shown is not None:
            self.engine.visited.replace(result)
        new = self._lay_out(shown.line, result)
        new.is_aside = shown.is_aside
        return new

    def _lay_out(self, line: str, result: Result) -> Shown:
        shown = self.room.lay_out(line, result, self._view_in(result))
        self.engine.width = shown.width
        return shown

    def _view_in(self, result: Result) -> View | None:
        known = (self._views[id(block)][1] for block in result.blocks if id(block) in self._views)
        return next(known, None) or view_of(result)

    def _keep(self, array: Array, view: View) -> None:
        self._views[id(array)] = (array, view)
        for oldest in list(self._views)[:-_KEPT]:
            del self._views[oldest]
