"""Completes a line that is being typed: offers what could stand for its last word.

What an argument is called in the help (its metavar) says what Tab offers for it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from tdbg.errors import TdbgError
from tdbg.shell.command import Command, Completion
from tdbg.shell.commands import all_commands, find
from tdbg.shell.settings import SETTINGS
from tdbg.shell.words import commands_in, words_of

if TYPE_CHECKING:
    from tdbg.shell.engine import Engine

_MOST = 500


def completions(shell: Engine, line: str) -> list[Completion]:
    pieces = commands_in(line)
    piece = pieces[-1] if pieces and not line.rstrip().endswith(";") else ""
    words = [word.text for word in words_of(piece, is_whole=False)]
    if line[-1:].isspace() or not words:
        words.append("")
    word = words[-1]
    try:
        if len(words) == 1:
            return _unique(_commands(shell, word))
        command = find(words[0])
        return _unique(_arguments(shell, command, words[1:-1], word)) if command else []
    except TdbgError:
        return []


def _unique(found: Iterable[Completion]) -> list[Completion]:
    return list({one.text: one for one in islice(found, _MOST)}.values())


def _arguments(shell: Engine, command: Command, words: Sequence[str], word: str) -> Iterable[Completion]:
    own = list(command.complete(shell, words, word))
    if own:
        return own
    actions = command.parser()._actions
    if word.startswith("-"):
        flags = [(flag, action.help or "") for action in actions for flag in action.option_strings]
        return [Completion(flag, description) for flag, description in flags if flag.startswith(word)]
    action = _awaited(actions, words)
    if action is None:
        return []
    if action.choices is not None:
        return [Completion(str(choice)) for choice in action.choices if str(choice).startswith(word)]
    offer = OFFERS.get(str(action.metavar))
    return offer(shell, word) if offer else []


def _awaited(actions: Sequence[argparse.Action], words: Sequence[str]) -> argparse.Action | None:
    """Finds the argument that the next word is for: that of the flag before it, else the next that needs no flag."""
    flags = {flag: action for action in actions for flag in action.option_strings}
    places = [action for action in actions if not action.option_strings]
    before: argparse.Action | None = None
    taken = 0
    for word in words:
        if before is not None:
            before = None
        elif word in flags:
            before = flags[word] if flags[word].nargs != 0 else None
        else:
            taken += 1
    if before is not None:
        return before
    return places[min(taken, len(places) - 1)] if places else None


def _starting(names: Iterable[str], word: str) -> Iterable[Completion]:
    return (Completion(name) for name in names if name.startswith(word))


def _commands(shell: Engine, word: str) -> Iterable[Completion]:
    for command in all_commands().values():
        for name in (command.name, *command.aliases):
            if name.startswith(word):
                yield Completion(name, command.summary())


def _sources(shell: Engine, word: str) -> Iterable[Completion]:
    for source in shell.scene.sources():
        if source.path.startswith(word) or Path(source.path).name.startswith(word):
            yield Completion(source.path, f"{source.nodes} nodes")


def _settings(shell: Engine, word: str) -> Iterable[Completion]:
    return (Completion(name, one.meaning) for name, one in SETTINGS.items() if name.startswith(word))


def _files(shell: Engine, word: str) -> Iterable[Completion]:
    folder, _, beginning = word.rpartition("/")
    try:
        for path in sorted(Path(folder or ("/" if word.startswith("/") else ".")).expanduser().iterdir()):
            if path.name.startswith(beginning):
                yield Completion(f"{folder}/{path.name}" if "/" in word else path.name)
    except OSError:
        return


OFFERS: dict[str, Callable[[Engine, str], Iterable[Completion]]] = {
    "COMMAND": _commands,
    "TENSOR": lambda shell, word: _starting(shell.scene.tensor_names(), word),
    "NODE": lambda shell, word: _starting(shell.scene.node_names(), word),
    "FILTER": lambda shell, word: _starting(shell.scene.filters, word),
    "FEED": lambda shell, word: _starting(shell.scene.feeds(), word),
    "SOURCE": _sources,
    "SETTING": _settings,
    "FILE": _files,
    "TRACE": _files,
}
