"""Offers commands, moments and switches of the screen that match a few typed letters, to run with Enter."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import Any

from textual.command import DiscoveryHit, Hit, Hits, Provider

from tdbg.shell.commands import all_commands

_MOST = 50  # moments that are offered at once


class Palette(Provider):
    """Offers all commands, then the moments of the scene."""

    async def discover(self) -> AsyncIterator[DiscoveryHit]:
        for title, help, act in self._entries():
            yield DiscoveryHit(title, act, help=help)

    async def search(self, query: str) -> Hits:
        matcher = self.matcher(query)
        for title, help, act in self._entries():
            score = max(matcher.match(title), 0.5 * matcher.match(help))
            if score > 0:
                yield Hit(score, matcher.highlight(title), act, help=help)
        found = 0
        for moment in await self._screen_app.moments():
            if found < _MOST and (score := matcher.match(moment.title)) > 0:
                found += 1
                help = (
                    f"{moment.bad:,} bad of {moment.tensors:,} tensors" if moment.bad else f"{moment.tensors:,} tensors"
                )
                act = partial(self._screen_app.type_line, f"steps {moment.number}")
                yield Hit(score, matcher.highlight(moment.title), act, help=help)

    @property
    def _screen_app(self) -> Any:
        return self.app

    def _entries(self) -> list[tuple[str, str, Callable[[], Any]]]:
        app = self._screen_app
        commands = [
            (name, command.summary(), partial(app.type_command, command)) for name, command in all_commands().items()
        ]
        switches = [
            ("light or dark", "The other colours", app.action_colours),
            ("mouse on or off", "Without it the terminal selects text", app.action_mouse),
            ("printed", "What the program has printed since this screen opened", app.action_printed),
        ]
        return [*commands, *switches]
