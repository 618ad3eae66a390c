"""Shows results on the screen, and ends with what the person wants a held program to do next."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import Any, ClassVar, TypeVar

from rich.text import Text as RichText
from textual.app import App, ComposeResult
from textual.containers import Horizontal
from textual.message import Message
from textual.reactive import Reactive
from textual.theme import Theme
from textual.widget import Widget
from textual.widgets import Static

from tdbg.capture.control import Action, Pause
from tdbg.shell.command import Command
from tdbg.shell.result import Result, Text, plain
from tdbg.shell.screen import bar_texts, theme
from tdbg.shell.screen.bars import Bar, Links, joined
from tdbg.shell.screen.jobs import Jobs, Outcome
from tdbg.shell.screen.output import Followed, Output
from tdbg.shell.screen.palette import Palette
from tdbg.shell.screen.printed import Printed
from tdbg.shell.screen.prompt import Menu, Prompt
from tdbg.shell.screen.questions import Answer, Question
from tdbg.shell.screen.shown import Shown, beside_of
from tdbg.shell.screen.side_panel import Side
from tdbg.shell.screen.style import CSS
from tdbg.shell.screen.terminal import Terminal
from tdbg.shell.screen.worker import Stopped

Part = TypeVar("Part", bound=Widget)
_LOOK_EVERY = 2.0  # seconds, for what a program has recorded since
_PATIENCE = 0.15  # seconds after which a command counts as a long one


class Body(Horizontal):
    """The output and what stands beside it."""

    class Resized(Message):
        pass

    def on_resize(self) -> None:
        self.post_message(self.Resized())


class ScreenApp(App[Action]):
    """The screen, without its keys. ``pause`` is None when no program is held. The Action is None when the terminal is
    gone."""

    CSS = CSS
    TITLE = "tdbg"
    COMMANDS: ClassVar = {Palette}
    theme: Reactive[str] = Reactive(
        theme.preferred
    )  # from the beginning: a change of colours would parse all styles again

    def __init__(self, jobs: Jobs, pause: Pause | None = None, first: str = "", printed: Printed | None = None) -> None:
        super().__init__(driver_class=partial(Terminal, out=printed.terminal) if printed else None)  # type: ignore[arg-type]
        # Textual would take what the program's other threads print, and lose it; Printed does not.
        self._capture_stdout, self._capture_stderr = sys.stdout, sys.stderr  # type: ignore[assignment]
        self.jobs, self.pause, self.first, self.printed = jobs, pause, first, printed
        self.engine = jobs.engine
        jobs.on_ready = self._pages_ready
        self.shown: Shown | None = None
        self.match = -1  # the line of the match that was gone to
        self.fresh = 0  # tensors that were recorded since the screen was made
        self._printed = 0
        self._running_loop: asyncio.AbstractEventLoop | None = None
        self._job: Future | None = None
        self._doing, self._since = "", 0.0
        self.turn = asyncio.Lock()
        self._begun = asyncio.Event()  # what is typed before the first screen is made comes after it
        self._places: dict[int, tuple[Result, int, int]] = {}
        self.has_mouse = bool(self.engine.settings.get("mouse_mode", True))

    @property
    def available_themes(self) -> dict[str, Theme]:
        return {**super().available_themes, **{colours.name: colours for colours in (theme.DARK, theme.LIGHT)}}

    def compose(self) -> ComposeResult:
        yield Bar(id="title")
        yield Links(id="links")
        yield Bar(id="slice")
        with Body(id="body"):
            yield Output()
            yield Side()
        yield Static(id="message")
        yield Menu()
        yield Bar(id="rule", fill="─")
        with Horizontal(id="line"):
            yield Static("tdbg> ", id="label")
            yield Prompt(self.engine.history)
            yield Static(" tab completes · ↑ ^R history ", id="hint")
        yield Question()
        yield Bar(id="keys")

    def part(self, kind: type[Part], name: str = "") -> Part:
        """Finds a part of the screen, also while the palette stands before it."""
        screen = self.screen_stack[0]
        return screen.query_one(name, kind) if name else screen.query_one(kind)

    def on_mount(self) -> None:
        self._running_loop = asyncio.get_running_loop()
        for name in ("#links", "#slice", "#message"):
            self.part(Widget, name).display = False
        self.part(Prompt).focus()
        self.set_interval(0.1, self._tick)
        self.set_timer(_LOOK_EVERY, self._begin_look)
        self.call_after_refresh(self._begin)
        if not self.has_mouse:
            self.set_mouse(False)

    def _begin(self) -> None:
        self._measure()
        if self.pause is not None:
            self.run_worker(self._perform(self.pause.first, partial(self.jobs.begin, self.pause)))
        elif self.first:
            self.run_worker(self._open())
        else:
            self._begun.set()

    async def _open(self) -> None:
        """Shows the first screen, and says whether something is wrong here."""
        await self._perform(self.first, partial(self.jobs.perform, self.first))
        moment = self.engine.scene.moment
        if moment is not None and moment.bad:
            said = f"{moment.title}: {moment.bad:,} of {moment.tensors:,} tensors hold bad values"
            self.say(f"{said} · F3 explains why · lt -f has_inf_or_nan lists them", "warning")

    def on_unmount(self) -> None:
        self.jobs.worker.close()

    def _measure(self) -> None:
        body = self.part(Widget, "#body").size
        self.jobs.room.width, self.jobs.room.height = body.width or self.size.width, body.height or self.size.height

    def on_body_resized(self) -> None:
        before = self.jobs.room.width
        self.part(Widget, "#hint").display = self.size.width >= 80
        self._measure()
        if self.shown is not None and self.jobs.room.width != before:
            self._fit(self.shown, self.part(Output).top)
        self.update_bars()

    def on_prompt_entered(self, event: Prompt.Entered) -> None:
        if event.line:
            self.type_line(event.line)
        else:
            self.type_nothing()

    def type_line(self, line: str) -> None:
        async def in_turn() -> None:
            await self._begun.wait()
            await self._perform(line, partial(self.jobs.perform, line))

        self.run_worker(in_turn())

    def type_nothing(self) -> None:
        """Called for Enter in an empty prompt."""

    def type_command(self, command: Command) -> None:
        """Runs a command at once when it needs nothing; else writes its name for the person to go on."""
        arguments = command.parser()._actions
        if any(not argument.option_strings and argument.nargs not in ("?", "*") for argument in arguments):
            self.part(Prompt).fill(f"{command.name} ")
        else:
            self.type_line(command.name)

    def on_followed(self, event: Followed) -> None:
        if event.link.startswith("!"):
            self.run_worker(self.run_action(event.link[1:]))
        else:
            self.part(Prompt).focus()
            self.type_line(event.link)

    async def _perform(self, line: str, job: Callable[[], Outcome]) -> None:
        async with self.turn:
            self._begun.set()
            self.say("")
            outcome = await self.work(line, job)
        if outcome is None:
            return
        result, shown = outcome
        if shown is not None:
            is_back = line in ("prev", "next")
            self.show(shown, self._place_of(shown.result) if is_back else (shown.result.top, 0))
            self.say(result.note)
        elif result.blocks:
            self.say(_first_lines(result), "error" if result.is_error else "")
        if "mouse" in result.controls:
            self.set_mouse(bool(result.controls["mouse"]))
        if result.asks:
            answers = [Answer("y", "yes", partial(self.type_line, result.yes)), Answer("n", "no", int)]
            self.ask(result.asks, answers, self.type_line)
        if result.action is not None:
            self.exit(result.action)

    async def work(self, line: str, job: Callable[[], Any]) -> Any:
        """Does a job on the worker, and gives its outcome; None when it was stopped or failed, which was said then."""
        self._doing, self._since = line, time.monotonic()
        self._job, self.jobs.ahead = self.jobs.ahead or self.jobs.worker.submit(job), None
        try:
            return await asyncio.wrap_future(self._job)
        except (Stopped, asyncio.CancelledError):
            self.say("stopped", "warning")
        except Exception as fault:
            self.say(f"ERROR: {fault or type(fault).__name__}", "error")
        finally:
            self._job = None
            self.update_bars()
        return None

    def end(self) -> None:
        """Ends the screen without an answer, from another thread."""
        with suppress(RuntimeError):
            if self._running_loop is not None:
                self._running_loop.call_soon_threadsafe(self.exit)

    @property
    def failure(self) -> Exception | None:
        """What ended the screen before anybody did."""
        return self._exception

    def put_terminal_back(self) -> None:
        if isinstance(self._driver, Terminal) and self._driver.is_on:
            self._driver.stop_application_mode()

    @property
    def is_working(self) -> bool:
        return self._job is not None

    def stop(self) -> None:
        """Ends the command that is being done."""
        if self._job is not None:
            self.jobs.worker.interrupt(self._job)

    def set_mouse(self, on: bool) -> None:
        """Turns the mouse on or off; without it, the terminal's own selection of text works."""
        self.has_mouse = on
        if isinstance(self._driver, Terminal):
            self._driver.set_mouse(on)

    def ask(self, question: str, answers: list[Answer], on_line: Callable[[str], None] | None = None) -> None:
        """Asks a question. With ``on_line``, what is typed already goes on where the answer stands."""
        self.part(Widget, "#line").display = False
        prompt = self.part(Prompt)
        typed = prompt.value if on_line else ""
        if typed:
            prompt.fill("")
        self.part(Question).ask(question, answers, self._answered, on_line, typed)

    def _answered(self) -> None:
        self.part(Widget, "#line").display = True
        self.part(Prompt).focus()

    def _place_of(self, result: Result) -> tuple[int, int]:
        _, top, left = self._places.get(id(result), (result, result.top, 0))
        return top, left

    def show(self, shown: Shown, place: tuple[int, int]) -> None:
        output = self.part(Output)
        if self.shown is not None:
            self._places[id(self.shown.result)] = (self.shown.result, output.top, int(output.scroll_offset.x))
            for oldest in list(self._places)[:-100]:
                del self._places[oldest]
        self.shown, self.match = shown, place[0] if shown.search else -1
        links, piece = self.part(Bar, "#links"), self.part(Bar, "#slice")
        links.display = bool(shown.result.menu)
        links.show((*joined([span._replace(text=f" {span.text} ") for span in shown.result.menu], "·"),))
        piece.display = shown.view is not None
        if shown.view is not None:
            piece.show(*shown.view.bar())
        side = self.part(Side)
        side.display = shown.has_panel
        side.show(())
        if shown.has_panel:
            self.run_worker(self._count(shown))
        output.show(shown.pages, *place)
        self.update_bars()
        if shown.room != self.jobs.room.width:  # which has changed while it was made
            self._fit(shown, place[0])

    async def _count(self, shown: Shown) -> None:
        """Shows what stands beside a tensor when that is counted."""
        with suppress(Exception):
            lines = await asyncio.wrap_future(self.jobs.worker.submit(partial(beside_of, shown)))
            if self.shown is shown:
                self.part(Side).show(lines)

    def _fit(self, shown: Shown, top: int) -> None:
        """Lays the same out in the room that there is now, unless another screen came in between."""
        self.show_again(partial(self.jobs.again, shown), top, shown)

    def show_again(self, job: Callable[[], Shown | None], top: int, instead_of: Shown | None = None) -> None:
        """Makes the same screen anew; ``instead_of``: only while this one is shown."""

        async def make() -> None:
            async with self.turn:
                if instead_of is not None and self.shown is not instead_of:
                    return
                shown = await self.work(self.shown.line if self.shown else "", job)
            if shown is not None:
                self.show(shown, (top, 0))

        self.run_worker(make())

    def _pages_ready(self) -> None:
        """Called on the worker, when more lines are there."""
        with suppress(RuntimeError):  # the screen has ended meanwhile
            if self._running_loop is not None:
                self._running_loop.call_soon_threadsafe(self._loaded)

    def _loaded(self) -> None:
        with suppress(Exception):
            self.part(Output).loaded()

    def _print_error_renderables(self) -> None:
        """Prints nothing: a fault of the screen is told in one line, by who started it."""
        self._exit_renderables.clear()

    def say(self, message: str, style: str = "") -> None:
        """Shows a line or two above the prompt, until the next command."""
        widget = self.part(Static, "#message")
        widget.display = bool(message)
        widget.update(RichText(theme.visible_lines(message), theme.style_of(style, "", self.theme)))

    def _begin_look(self) -> None:
        self.run_worker(self._look())

    async def _look(self) -> None:
        """Looks whether the trace has grown, and says so; what is shown stays as it is."""
        began = time.monotonic()
        with suppress(Exception):
            found = await asyncio.wrap_future(self.jobs.worker.submit(self.jobs.look))
            if found:
                self.fresh += found
                self.update_bars()
        self.set_timer(max(_LOOK_EVERY, 10 * (time.monotonic() - began)), self._begin_look)

    def _tick(self) -> None:
        waited = time.monotonic() - self._since
        if self._job is not None and waited > _PATIENCE:
            self.part(Bar, "#rule").show(*bar_texts.working(self._doing, waited))
        elif self.printed is not None and self.printed.size() != self._printed:
            self.update_bars()

    def update_bars(self) -> None:
        if not self.is_running or self._exit:
            return
        output = self.part(Output)
        held = theme.visible(self.pause.headline) if self.pause else ""
        scene = theme.visible(self.engine.scene.title)
        self.part(Bar, "#title").show(*bar_texts.title(scene, held, self.engine.visited, self.fresh))
        self._printed = self.printed.size() if self.printed else 0
        if self._job is None or time.monotonic() - self._since < _PATIENCE:
            rule = bar_texts.rule(self.shown, output.top, output.rows, self.match, self._printed)
            self.part(Bar, "#rule").show(*rule)
        has_search = self.shown is not None and self.shown.search is not None
        self.part(Bar, "#keys").show(bar_texts.keys(self.size.width, output.has_focus, has_search))

    def on_output_moved(self) -> None:
        self.update_bars()


def _first_lines(result: Result) -> str:
    """Gives the lines of a result's texts: what an error says."""
    lines = (plain(line) for block in result.blocks if isinstance(block, Text) for line in block.lines)
    return "\n".join(lines)
