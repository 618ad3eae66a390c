"""Lets the screen search: marks what matches, and goes from match to match."""

from __future__ import annotations

import re
from functools import partial

from tdbg.shell.screen.app import ScreenApp
from tdbg.shell.screen.output import Output
from tdbg.shell.screen.shown import Shown


class SearchingScreen(ScreenApp):
    """The screen with its search."""

    _goes_on = False  # a search does, until something else is typed

    def type_line(self, line: str) -> None:
        self._goes_on = False
        if line.startswith("/"):
            self.run_worker(self.search(line[1:].strip()))
        else:
            super().type_line(line)

    def type_nothing(self) -> None:
        self.go_to_match(1)

    async def search(self, pattern: str) -> None:
        """Marks what matches, and goes to the first match that is seen or comes; without a pattern to the next one."""
        async with self.turn:
            if self.shown is None:
                return
            search = self.shown.search
            if search is not None and pattern in ("", search.pattern):
                self.go_to_match(1)
            elif (problem := _problem_of(pattern)) is not None:
                self.say(problem, "error")
            else:
                self.say("")
                await self._find(self.shown, pattern)

    async def _find(self, before: Shown, pattern: str) -> None:
        line = f"/{pattern}"
        shown: Shown | None = await self.work(line, partial(self.jobs.sought, before, pattern))
        if shown is None or shown.search is None:
            return
        top = self.part(Output).top
        self.show(shown, (top, 0))
        self.match = -1
        self._goes_on = True
        while self._goes_on and not shown.search.is_done:
            if await self.work(line, shown.search.look) is None:
                return
            if self.match < 0 and (found := shown.search.after(top - 1, 1)) is not None and found >= top:
                self._go_to(found)
        if self.match < 0 and (found := shown.search.after(top - 1, 1)) is not None:
            self._go_to(found)
        if not shown.search.matches and shown.search.is_done:
            self.say(f"no line on this screen matches: {pattern}", "error")
            plain_again: Shown | None = await self.work(line, partial(self.jobs.sought, shown, ""))
            if plain_again is not None:
                self.show(plain_again, (top, 0))

    def go_to_match(self, by: int) -> None:
        search = self.shown.search if self.shown else None
        if search is not None:
            output = self.part(Output)
            start = self.match if self.match >= 0 else output.top - (by > 0)
            found = search.after(start, by)
            if found is not None:
                self._go_to(found)

    def _go_to(self, line: int) -> None:
        output = self.part(Output)
        self.match = output.marked = line
        if not output.top <= line < output.top + output.rows - 1:
            output.go(max(0, line - output.rows // 3))
        output.refresh()
        self.update_bars()


def _problem_of(pattern: str) -> str | None:
    if not pattern:
        return "search for what? write /REGEX, for example /inf; then / goes to the next one"
    try:
        re.compile(pattern)
    except re.error as problem:
        return f"this is not a regular expression ({problem}): {pattern}"
    return None
