"""Decides what the screen does about each key and click."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from functools import partial
from typing import ClassVar

from textual import events
from textual.binding import Binding

from tdbg.capture.control import Action, Kind
from tdbg.scene import Moment
from tdbg.shell.result import Result, text
from tdbg.shell.screen import theme
from tdbg.shell.screen.bars import Links
from tdbg.shell.screen.output import Output
from tdbg.shell.screen.prompt import Menu, Prompt
from tdbg.shell.screen.questions import Answer, Question
from tdbg.shell.screen.searching import SearchingScreen
from tdbg.shell.screen.terminal import TerminalGone

_STOPS_WITHIN = 0.3  # seconds from the signal


class DebuggerScreen(SearchingScreen):
    """The whole screen, with its keys."""

    BINDINGS: ClassVar = [
        Binding("f1", "type('help')", priority=True, show=False),
        Binding("f3", "type('why')", priority=True, show=False),
        Binding("f4", "printed", priority=True, show=False),
        Binding("f5", "refresh_scene", priority=True, show=False),
        Binding("alt+left", "type('prev')", priority=True, show=False),
        Binding("alt+right", "type('next')", priority=True, show=False),
        Binding("alt+n", "match(1)", priority=True, show=False),
        Binding("alt+N,alt+shift+n", "match(-1)", priority=True, show=False),
        Binding("ctrl+c", "interrupt", priority=True, show=False),
        Binding("ctrl+q", "leave", priority=True, show=False),
        Binding("ctrl+d", "end_of_input", priority=True, show=False),
        Binding("ctrl+z", "stop_process", priority=True, show=False),
        Binding("ctrl+l", "redraw", priority=True, show=False),
        Binding("escape", "back_out", show=False),
        Binding("pageup", "scroll('page_up')", show=False),
        Binding("pagedown", "scroll('page_down')", show=False),
        Binding("ctrl+home", "scroll('home')", show=False),
        Binding("ctrl+end", "scroll('end')", show=False),
        Binding("ctrl+up,shift+up", "scroll('up')", show=False),
        Binding("ctrl+down,shift+down", "scroll('down')", show=False),
    ]

    def action_type(self, line: str) -> None:
        self.type_line(line)

    def action_fill(self, line: str) -> None:
        prompt = self.part(Prompt)
        prompt.focus()
        prompt.fill(line)

    def action_answer(self, key: str) -> None:
        self.part(Question).answer(key)

    def action_links(self) -> None:
        self.part(Output).focus()

    def action_match(self, by: int) -> None:
        self.go_to_match(by)

    def action_scroll(self, way: str) -> None:
        getattr(self.part(Output), f"scroll_{way}")(animate=False)

    def action_turn(self, by: int) -> None:
        """Turns a page of a tensor's leading dimensions; where there are none, goes sideways."""
        output = self.part(Output)
        if self.shown is not None and self.shown.view is not None and self.shown.view.pages:
            self.show_again(partial(self.jobs.turned, self.shown, by), 0)
        else:
            output.scroll_relative(x=8 * by, animate=False)

    def action_slice(self) -> None:
        """Writes the command that shows another part of this tensor, for the person to change."""
        if self.shown is not None and self.shown.view is not None:
            prompt = self.part(Prompt)
            prompt.focus()
            prompt.fill(*self.shown.view.sliced(self.shown.line))

    def action_printed(self) -> None:
        if self.printed is None or not self.printed.size():
            return self.say("the program has printed nothing since this screen opened")
        lines = self.printed.text().splitlines()
        result = Result([text(*lines)])
        return self.show_again(partial(self.jobs.aside, "what the program printed", result), max(0, len(lines) - 10))

    def action_refresh_scene(self) -> None:
        if self.shown is not None:
            self.fresh = 0
            self.type_line(self.shown.line)

    def action_colours(self) -> None:
        self.theme = theme.LIGHT.name if self.theme == theme.DARK.name else theme.DARK.name

    def action_mouse(self) -> None:
        self.set_mouse(not self.has_mouse)
        self.say("the mouse is on" if self.has_mouse else "the mouse is off: you can now select text")

    def action_redraw(self) -> None:
        self.refresh(layout=True, repaint=True)

    def action_back_out(self) -> None:
        """Escape: goes out of what is nearest."""
        menu, output = self.part(Menu), self.part(Output)
        if menu.display:
            menu.close()
        elif self.is_working:
            self.stop()
        elif output.has_focus or self.part(Links).has_focus:
            self.part(Prompt).focus()
        elif self.shown is not None and self.shown.search is not None:
            self.show_again(partial(self.jobs.sought, self.shown, ""), output.top)
        elif self.shown is not None and self.shown.is_aside:
            self.show_again(self.jobs.visited, 0)
        self.say("")

    def action_interrupt(self) -> None:
        """Ctrl-C: stops a command, empties the prompt, and then asks how to leave."""
        prompt = self.part(Prompt)
        if self.is_working:
            self.stop()
        elif prompt.value:
            prompt.fill("")
            self.part(Menu).close()
        elif self.pause is not None:
            self.action_leave()
        else:
            self.say("Ctrl-Q or exit leaves; Ctrl-C stops a long-running command")

    def action_end_of_input(self) -> None:
        if not self.part(Prompt).value:
            self.action_leave()

    def action_leave(self) -> None:
        if self.pause is None:
            self.exit(Action(Kind.EXIT))
            return
        ways = (("r", "run on", Action()), ("d", "detach", Action(Kind.DETACH)), ("x", "end it", Action(Kind.EXIT)))
        self.ask("Leave:", [Answer(key, label, partial(self.exit, action)) for key, label, action in ways])

    def action_stop_process(self) -> None:
        """Ctrl-Z: stops the process as in any program; what waits for it is stopped too."""
        with self.suspend():
            os.kill(0, signal.SIGTSTP)
            time.sleep(_STOPS_WITHIN)  # this thread goes on until another one was told; then it stops in here

    def on_terminal_gone(self, event: TerminalGone) -> None:
        self.exit(None)

    async def moments(self) -> list[Moment]:
        return await asyncio.wrap_future(self.jobs.worker.submit(self.jobs.moments))

    def on_prompt_left(self, event: Prompt.Left) -> None:
        links = self.part(Links)
        (links if event.by < 0 and links.display else self.part(Output)).focus()

    def on_prompt_moved(self, event: Prompt.Moved) -> None:
        if event.way in ("left", "right"):
            self.action_turn(-1 if event.way == "left" else 1)
        elif event.way in ("back", "forward"):  # what some terminals send for Alt and an arrow
            self.type_line("prev" if event.way == "back" else "next")
        else:
            self.action_scroll(event.way)

    def on_prompt_completing(self) -> None:
        self.run_worker(self._complete(True))

    async def _complete(self, is_asked: bool) -> None:
        prompt = self.part(Prompt)
        line = prompt.value[: prompt.cursor_position]
        found = await asyncio.wrap_future(self.jobs.worker.submit(partial(self.jobs.complete, line)))
        prompt.offer(line, found, is_asked)

    def on_menu_chosen(self, event: Menu.Chosen) -> None:
        self.part(Prompt).take_chosen(self.part(Menu), event.text)

    def on_input_changed(self) -> None:
        """Makes the menu smaller by what is typed while it is open."""
        menu = self.part(Menu)
        if menu.display and menu.line != self.part(Prompt).value:
            if menu.is_history:
                self.part(Prompt).offer_history()
            else:
                self.run_worker(self._complete(False))

    async def on_event(self, event: events.Event) -> None:
        """Gives letters to the prompt, also while the output has the focus; before any widget has seen them, so that
        they stay in their order."""
        if isinstance(event, events.Key) and not event.is_forwarded and self._goes_on_typing(event):
            self.screen.set_focus(self.part(Prompt))
        await super().on_event(event)

    def _goes_on_typing(self, event: events.Key) -> bool:
        is_for_matches = event.character in ("n", "N") and self.shown is not None and self.shown.search is not None
        return event.is_printable and isinstance(self.focused, Output) and not is_for_matches

    def on_output_pressed(self, event: Output.Pressed) -> None:
        if event.key in ("n", "N"):
            self.go_to_match(1 if event.key == "n" else -1)
        else:
            self.action_turn(-1 if event.key == "left" else 1)

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self.call_after_refresh(self.update_bars)

    def on_descendant_blur(self, event: events.DescendantBlur) -> None:
        self.call_after_refresh(self.update_bars)
