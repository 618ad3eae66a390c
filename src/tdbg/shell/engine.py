"""Carries out lines that a person types, on a scene, and gives a Result for each.

It knows no terminal: line mode, screen, page and -c use it.
"""

from __future__ import annotations

import os
import re
import traceback
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from tdbg.errors import TdbgError
from tdbg.nearest import did_you_mean
from tdbg.scene import Scene
from tdbg.shell.command import Command, Completion
from tdbg.shell.commands import all_words, find
from tdbg.shell.go_to_element import go_to
from tdbg.shell.layout import Layout
from tdbg.shell.line_history import LineHistory
from tdbg.shell.result import Result, error, text
from tdbg.shell.settings import Settings
from tdbg.shell.visited_screens import VisitedScreens
from tdbg.shell.words import commands_in, text_without_file, without_file, words_of


class Engine:
    """Carries out lines on a scene. ``scene`` may be exchanged (by ``open``, or at the next prompt of a running
    program). ``is_held``: a program waits, so ``run`` means something. ``can_ask``: somebody is there to answer a
    question. ``width`` is that of the screen, so that a search finds the line that is shown; None: lines are never cut.
    ``can_write``: commands may write files, as with ``>``. ``open_scene`` makes a scene of a path, for ``open`` and
    ``diff``; without it the path is that of a trace."""

    def __init__(
        self,
        scene: Scene,
        settings: Settings | None = None,
        *,
        history: LineHistory | None = None,
        is_held: bool = False,
        can_ask: bool = False,
        width: int | None = None,
        can_write: bool = True,
        open_scene: Callable[[str], Scene] | None = None,
    ) -> None:
        self.scene: Scene = scene
        self.settings = Settings() if settings is None else settings
        self.history = history or LineHistory()
        self.is_held, self.can_ask, self.width, self.can_write = is_held, can_ask, width, can_write
        self.open_scene = open_scene or _open_trace
        self.visited = VisitedScreens()
        self._sought = ""

    def execute(self, line: str) -> Result:
        """Never raises: what cannot be done is a Result that says so in one line. Several commands, with ``;`` between
        them, give one Result; the first that fails, or that the program goes on with, is the last."""
        try:
            line = line.strip()
            commands = [line] if line.startswith("/") else commands_in(line)
            if len(commands) < 2:
                return self._visit(line, self._one(line))
            return self._visit(line, self._several(commands))
        except KeyboardInterrupt:
            return error("stopped")
        except TdbgError as problem:
            return error(str(problem))
        except Exception as fault:
            if os.environ.get("TDBG_STRICT") == "1":
                raise
            from tdbg.store.damage import damage_in

            damage = damage_in(fault)
            if damage is not None:
                return error(damage)
            place = traceback.extract_tb(fault.__traceback__)[-1]
            where = f"{Path(place.filename).name}:{place.lineno}"
            return error(f"this is a bug in tdbg ({type(fault).__name__} in {where}): {fault}")

    def complete(self, line: str, cursor: int | None = None) -> list[Completion]:
        """Offers what could stand for the word under the cursor."""
        from tdbg.shell.completion import completions

        return completions(self, line if cursor is None else line[:cursor])

    def begin(self, scene: Scene) -> None:
        """Looks at another scene from now on, whose screens are new."""
        self.scene = scene
        self.visited.forget()

    def command(self, word: str) -> Command:
        """Finds a command by name or alias; TdbgError with the nearest when there is none."""
        found = find(word)
        if found is None:
            hint = did_you_mean(word, all_words()) or "type help for a list"
            raise TdbgError(f"there is no command {word!r}; {hint}")
        return found

    def _visit(self, line: str, result: Result) -> Result:
        shown = self.visited.shown
        if result.blocks and not result.is_error and not (shown and shown.result is result):
            self.visited.add(line, result)
        return result

    def _several(self, commands: Sequence[str]) -> Result:
        results: list[Result] = []
        before = self.visited.at
        for command in commands:
            results.append(self.execute(command))
            if results[-1].is_error or results[-1].action:
                break
        self.visited.cut(before)
        return replace(results[-1], blocks=[block for result in results for block in result.blocks], top=0, search="")

    def _one(self, line: str) -> Result:
        if not line:
            return Result()
        if line.startswith("/"):
            return self._search(line[1:])
        if line.startswith("@"):
            return self._go_to_element(line[1:])
        name, rest = (*line.split(None, 1), "")[:2]
        command = self.command(name)
        if command.is_raw:
            rest, file, force = text_without_file(rest)
            words = [rest.strip()]
        else:
            bare, file, force = without_file(line)
            words = [word.text for word in words_of(bare)][1:]
        args = command.parse(words)
        if file or getattr(args, "write_path", None):
            self._check_may_write()
        if not file:
            return command.run(self, args)
        asking, self.can_ask = self.can_ask, False
        try:
            return self._written(name, command.run(self, args), file, force)
        finally:
            self.can_ask = asking

    def _check_may_write(self) -> None:
        if not self.can_write:
            raise TdbgError("cannot write files from here; use tdbg shell")

    def _written(self, name: str, result: Result, file: str, force: bool) -> Result:
        if result.is_error:
            return result
        if result.action or not result.blocks:
            raise TdbgError(f"{name} has no output to write to a file")
        path = Path(file).expanduser()
        if path.is_dir():
            raise TdbgError(f"this is a folder, not a file: {file}")
        if os.path.lexists(path) and not force:
            raise TdbgError(f"this already exists; to overwrite it, add --force: > {file} --force")
        count = 0
        try:
            with path.open("w", encoding="utf-8") as out:
                for line in Layout(result).plain():
                    out.write(line + "\n")
                    count += 1
        except OSError as problem:
            raise TdbgError(f"cannot write the file ({problem.strerror}): {file}") from None
        said = f"{count:,} line{'s' * (count != 1)} written to {path}"
        return Result([text(said, data={"written": str(path), "lines": count})])

    def _search(self, pattern: str) -> Result:
        shown = self.visited.shown
        if shown is None:
            raise TdbgError("there is nothing to search yet; show something first, for example with lt")
        pattern = pattern or self._sought
        if not pattern:
            raise TdbgError("search for what? write /REGEX, for example /inf; then / goes to the next one")
        try:
            compiled = re.compile(pattern)
        except re.error as problem:
            raise TdbgError(f"this is not a regular expression ({problem}): {pattern}") from None
        self._sought = pattern
        is_next = shown.result.search == pattern
        found = Layout(shown.result, self.width).find(compiled, shown.result.top + 1 if is_next else 0)
        if found is None:
            raise TdbgError(f"no line on this screen matches: {pattern}")
        return self._changed(replace(shown.result, search=pattern, top=found))

    def _go_to_element(self, rest: str) -> Result:
        numbers = re.fullmatch(r"\s*\[?\s*(-?\d+(?:\s*,\s*-?\d+)*)\s*,?\s*\]?\s*", rest)
        if numbers is None:
            raise TdbgError("write an element as @[row,column], for example @[10,0]")
        shown = self.visited.shown
        indices = tuple(int(number) for number in numbers[1].split(","))
        return self._changed(go_to(shown.result if shown else Result(), indices, self.width))

    def _changed(self, result: Result) -> Result:
        self.visited.replace(result)
        return result


def _open_trace(path: str) -> Scene:
    from tdbg.query.scene.trace_scene import TraceScene

    return TraceScene(Path(path).expanduser())
