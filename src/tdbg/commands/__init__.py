"""Finds the commands of ``tdbg`` by name; each is a file of this folder."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TypeAlias

# In the order of ``tdbg --help``. A command is a file of this folder that has a class ``Command``; it imports what it
# needs (Arrow, DuckDB, rich) in ``run``, so that the others stay quick.
NAMES = ("run", "why", "shell", "serve", "diff", "info", "report", "sql", "import", "export", "demo")

# An exit status, or something to call for it once tdbg's own error handling is left: the user's program.
Outcome: TypeAlias = int | Callable[[], int]


class BaseCommand:
    """A command of ``tdbg``. Its docstring is its help; the first line stands in ``tdbg --help``."""

    def prepare_parser(self, parser: ArgumentParser) -> None:
        """Declares the command's arguments."""

    def parse(self, parser: ArgumentParser, words: Sequence[str]) -> Namespace:
        return parser.parse_args(words)

    def run(self, args: Namespace) -> Outcome:
        raise NotImplementedError


def load(name: str) -> BaseCommand:
    return import_module(f"tdbg.commands.{name}").Command()
