"""Runs the prompt on a plain terminal or a pipe: reads lines and prints what comes of them.

On a terminal there are history, completion and a pager. On a pipe the lines that were read are printed too, so the
output reads as what a person would have seen.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import islice

from tdbg import marks
from tdbg.capture.control import Action
from tdbg.errors import TdbgError
from tdbg.shell.colours import has_colours, written
from tdbg.shell.engine import Engine
from tdbg.shell.layout import Layout
from tdbg.shell.result import Line, Result, Span, error, plain
from tdbg.shell.words import commands_in

PROMPT = "tdbg> "
_CONTEXT = 2
_WINDOW = 20


def has_terminal() -> bool:
    """Whether somebody types, and reads."""
    streams = (sys.stdin, sys.stdout)
    return all(stream is not None and not stream.closed and stream.isatty() for stream in streams)


class LineMode:
    """Reads and executes lines until one gives an Action, or (``None``) the input is at its end."""

    def __init__(self, engine: Engine, has_pager: bool = True) -> None:
        self.engine = engine
        self.is_typed = has_terminal()
        self.has_pager = has_pager and self.is_typed
        engine.can_ask = self.is_typed

    def loop(self) -> Action | None:
        with _readline(self.engine) if self.is_typed else _nothing():
            while True:
                try:
                    line = self._read()
                except KeyboardInterrupt:
                    print()
                    continue
                if line is None:
                    return None
                result = self.execute(line)
                if result.action is not None:
                    return result.action

    def execute(self, line: str) -> Result:
        """Shows what each command of a line gives; the first that fails, or that gives an Action, is the last."""
        self.engine.history.add(line)
        result = Result()
        for command in [line] if line.lstrip().startswith("/") else commands_in(line):
            self._see_what_is_new()
            result = self.engine.execute(command)
            if result.asks:
                result = self._answered(result)
            result = self.show(result, is_window=command.strip() == "/" or command.lstrip().startswith("@"))
            if result.is_error or result.action:
                break
        return result

    def show(self, result: Result, is_window: bool = False) -> Result:
        """Prints the lines of a result; of one that was searched, those that match; ``is_window``: those around its
        top. What Ctrl-C stops, or cannot be read when its turn comes, ends them; that error is then the result."""
        try:
            layout = Layout(result)
            lines = _window(layout, result.top) if is_window else _matching(layout) if result.search else iter(layout)
            if result.note:
                _print(iter([(Span(result.note, "match"),)]))
            if self.has_pager and self.engine.settings.get("pager", True):
                _page(lines)
            else:
                _print(lines)
            return result
        except KeyboardInterrupt:
            failed = error("stopped")
        except TdbgError as problem:
            failed = error(str(problem))
        _print(iter(Layout(failed)))
        return failed

    def _see_what_is_new(self) -> None:
        """Reads what was written since: a trace may still be written while it is looked at. What is wrong with it, the
        command says."""
        if not self.engine.is_held:
            with suppress(TdbgError):
                self.engine.scene.refresh()

    def _read(self) -> str | None:
        if sys.stdout is not None:
            sys.stdout.flush()
        try:
            line = input(PROMPT) if self.is_typed else _line_of_pipe()
        except EOFError:
            print()
            return None
        except UnicodeDecodeError:
            self.show(error("this line is not UTF-8 text"))
            return ""
        if not self.is_typed:
            _print(iter([(Span(line),)]))
        return line

    def _answered(self, result: Result) -> Result:
        """Asks the question when somebody is there; else does what was asked for."""
        if self.is_typed:
            try:
                answer = input(f"{result.asks} [y/N] ")
            except (EOFError, KeyboardInterrupt):
                answer = ""
                print()
            answer = answer.strip()
            if answer.lower() not in ("y", "yes"):
                return Result() if answer.lower() in ("", "n", "no") else self.engine.execute(answer)
        return self.engine.execute(result.yes)


def _line_of_pipe() -> str:
    """Reads a line, but not by ``input``, which needs a standard output; EOFError at the end, and where there is no
    input at all."""
    print(PROMPT, end="", flush=True)
    line = sys.stdin.readline() if sys.stdin is not None and not sys.stdin.closed else ""
    if not line:
        raise EOFError
    return line.rstrip("\r\n")


def _window(layout: Layout, top: int) -> Iterator[Line]:
    """Gives the lines where a screen would scroll to."""
    first = max(top - _CONTEXT, 0)
    return iter(layout.lines(first, first + _WINDOW))


def _matching(layout: Layout) -> Iterator[Line]:
    """Gives the lines that match, with their numbers."""
    pattern = re.compile(layout.result.search)
    digits = len(str(len(layout)))
    for number, line in enumerate(layout, 1):
        if pattern.search(plain(line)):
            yield (Span(f"{number:>{digits}}: ", "dim"), *line)


def _print(lines: Iterator[Line]) -> None:
    if sys.stdout is None:
        return
    in_colour = has_colours(sys.stdout)
    for line in lines:
        sys.stdout.write(marks.fitting(written(line, in_colour) + "\n", sys.stdout))


def _page(lines: Iterator[Line]) -> None:
    """Prints what fits on the terminal; more goes through the pager, as it reads."""
    height = os.get_terminal_size(sys.stdout.fileno()).lines  # readline sets LINES, which then stays as it is
    first = list(islice(lines, height))
    pager = os.environ.get("PAGER") or (shutil.which("less") and "less -R")
    if len(first) < height or not pager:
        _print(iter(first))
        _print(lines)
        return
    in_colour = has_colours(sys.stdout)
    sys.stdout.flush()
    encoding = marks.encoding_of(sys.stdout)
    process = subprocess.Popen(
        pager, shell=True, stdin=subprocess.PIPE, text=True, encoding=encoding, errors=marks.ERRORS
    )
    assert process.stdin is not None
    try:
        for line in (*first, *lines):
            process.stdin.write(written(line, in_colour) + "\n")
        process.stdin.close()
    except (BrokenPipeError, KeyboardInterrupt):
        pass
    while process.poll() is None:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue


@contextmanager
def _nothing() -> Iterator[None]:
    yield


@contextmanager
def _readline(engine: Engine) -> Iterator[None]:
    """Sets up completion and history while the prompt asks; a program's own are put back."""
    try:
        import readline
    except ImportError:
        yield
        return
    old = readline.get_completer(), readline.get_completer_delims()
    kept = [readline.get_history_item(n + 1) for n in range(readline.get_current_history_length())]
    offers: list[str] = []

    def complete(text: str, state: int) -> str | None:
        if state == 0:
            line, end = readline.get_line_buffer(), readline.get_endidx()
            offers[:] = [offer.text for offer in engine.complete(line, end)]
            if len(offers) == 1:
                offers[0] += " "
        return offers[state] if state < len(offers) else None

    readline.clear_history()
    for line in engine.history.lines:
        readline.add_history(line)
    readline.set_completer(complete)
    readline.set_completer_delims(" \t;")
    for binding in ("tab: complete", '"\\e[A": history-search-backward', '"\\e[B": history-search-forward'):
        readline.parse_and_bind(binding)
    try:
        yield
    finally:
        readline.set_completer(old[0])
        readline.set_completer_delims(old[1])
        readline.clear_history()
        for item in kept:
            readline.add_history(item or "")
