"""Finds the commands of the debugger's prompt by name or alias; each is a file of this folder."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from keyword import iskeyword

from tdbg.shell.command import Command

# In the order of ``help``. Each is a file of this folder with a class ``Command``.
NAMES: tuple[str, ...] = (
    "run",
    "run_info",
    "print_feed",
    "list_tensors",
    "print_tensor",
    "eval",
    "node_info",
    "list_inputs",
    "list_outputs",
    "list_source",
    "print_source",
    "list_profile",
    "why",
    "where",
    "alerts",
    "steps",
    "history",
    "health",
    "grad",
    "diff",
    "sql",
    "break",
    "open",
    "config",
    "help",
    "version",
    "exit",
    "prev",
    "next",
    "mouse",
)


def all_commands() -> dict[str, Command]:
    """Loads all commands, by name and in the order of ``help``."""
    return {name: _load(name) for name in NAMES}


@cache
def _load(name: str) -> Command:
    command: Command = import_module(f"tdbg.shell.commands.{_module(name)}").Command()
    return command


def _module(name: str) -> str:
    """Gives the name of a command's file: a word of Python cannot name a file that is imported by its name."""
    return f"{name}_" if iskeyword(name) else name


def find(word: str) -> Command | None:
    """Finds a command by name or alias. Loads no more of them than it must: the first screen waits for this."""
    for name in [word] if word in NAMES else NAMES:
        if word in _words(command := _load(name)):
            return command
    return None


@cache
def all_words() -> tuple[str, ...]:
    """The names and aliases of all commands."""
    return tuple(word for command in all_commands().values() for word in _words(command))


def _words(command: Command) -> tuple[str, ...]:
    return (command.name, *command.aliases)
