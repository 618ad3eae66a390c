"""Writes the description, usage and flags of a command, for ``help`` and for the pages of the documentation."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Iterator
from typing import NamedTuple

from tdbg.shell.command import Command, Parser

_WIDTH = 100

# What is typed beside commands.
SIGNS = (
    ("/REGEX", "search the screen; a bare / goes to the next match"),
    ("@[i,j]", "go to an element of the tensor shown"),
    ("COMMAND > FILE", "write what a command shows to a new file; > FILE --force overwrites one"),
    ("COMMAND; COMMAND", "run several commands"),
)


class Usage(NamedTuple):
    lines: list[str]
    when: str  # "" always
    parser: Parser


def description(command: Command) -> list[str]:
    return (inspect.getdoc(command) or "").splitlines()


def usages_of(command: Command) -> list[Usage]:
    return [Usage(_lines(command.name, parser), when, parser) for when, parser in command.parsers().items()]


def flags_of(parser: Parser) -> Iterator[tuple[str, str]]:
    """Gives each argument as it is written, and what it does."""
    for action in parser._actions:
        yield spelling(action), action.help or ""


def spelling(action: argparse.Action) -> str:
    """Writes an argument as ``-t, --times N`` or ``NODE``."""
    value = "" if action.nargs == 0 else _value(action)
    if not action.option_strings:
        return value
    return f"{', '.join(action.option_strings)} {value}".strip()


def _value(action: argparse.Action) -> str:
    if action.choices is not None:
        return "{" + ",".join(map(str, action.choices)) + "}"
    return str(action.metavar or action.dest.upper())


def _lines(name: str, parser: Parser) -> list[str]:
    flags = [action for action in parser._actions if action.option_strings]
    places = [action for action in parser._actions if not action.option_strings]
    words = []
    words += [f"[{flag.option_strings[0]}{'' if flag.nargs == 0 else ' ' + _value(flag)}]" for flag in flags]
    words += [f"[{_value(place)}]" if place.nargs in ("?", "*") else _value(place) for place in places]
    lines = [f"usage: {name}"]
    for word in words:
        if len(lines[-1]) + len(word) >= _WIDTH:
            lines.append(" " * len(f"usage: {name}"))
        lines[-1] += f" {word}"
    return lines
