"""The commands of the debugger's prompt, one file each: a name or alias in, its command out."""

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


@cache
def all_commands() -> dict[str, Command]:
    """By name, in the order of ``help``."""
    return {name: import_module(f"tdbg.shell.commands.{_module(name)}").Command() for name in NAMES}


def _module(name: str) -> str:
    """A word of Python cannot name a file that is imported by its name."""
    return f"{name}_" if iskeyword(name) else name


@cache
def by_word() -> dict[str, Command]:
    """By name and alias."""
    commands = all_commands().values()
    return {word: command for command in commands for word in (command.name, *command.aliases)}
