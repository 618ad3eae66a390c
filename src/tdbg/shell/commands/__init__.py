"""The commands of the debugger's prompt, one file each: a name or alias in, its command out."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tdbg.shell.command import Command

# In the order of ``help``. Each is a file of this folder with a class ``Command``.
NAMES: tuple[str, ...] = ("version",)


@cache
def all_commands() -> dict[str, Command]:
    """By name, in the order of ``help``."""
    return {name: import_module(f"tdbg.shell.commands.{name}").Command() for name in NAMES}


@cache
def by_word() -> dict[str, Command]:
    """By name and alias."""
    commands = all_commands().values()
    return {word: command for command in commands for word in (command.name, *command.aliases)}
