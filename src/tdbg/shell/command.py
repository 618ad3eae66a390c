"""Defines what a command of the debugger's prompt is: it takes the words behind its name and gives a Result."""

from __future__ import annotations

import argparse
import re
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, NamedTuple, NoReturn

from tdbg.errors import TdbgError
from tdbg.shell.result import Result

if TYPE_CHECKING:
    from tdbg.shell.engine import Engine as Context

__all__ = ["Command", "Completion", "Context", "Parser", "quoted"]
_PLAIN_WORD = re.compile(r"[^\s'\"\[\];>`\\]+")


def quoted(word: str) -> str:
    """Writes a word as it must be typed to be one word: in quotes where it needs them."""
    if _PLAIN_WORD.fullmatch(word):
        return word
    return "'" + word.replace("'", "\\'") + "'"


class Completion(NamedTuple):
    """What Tab offers: ``text`` replaces the word under the cursor."""

    text: str
    description: str = ""


class Parser(argparse.ArgumentParser):
    """A parser that neither prints nor ends the program."""

    def error(self, message: str) -> NoReturn:
        raise TdbgError(f"{self.prog}: {message}; type help {self.prog} for its flags")

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        raise TdbgError(message or f"{self.prog} failed")


class Command:
    """One command. Its docstring is its help: the first line is its summary. ``examples`` are shown in help and docs,
    and executed by a test."""

    name: ClassVar[str] = ""
    aliases: ClassVar[tuple[str, ...]] = ()
    examples: ClassVar[Sequence[tuple[str, str]]] = ()  # (what is typed, what it does)
    page_lines: ClassVar[int] = 12  # how much of the output of an example its page of documentation shows
    is_raw: ClassVar[bool] = False  # the text behind the name is one word, taken as it is (eval, sql)

    @classmethod
    def summary(cls) -> str:
        return (cls.__doc__ or "").partition("\n")[0]

    def prepare_parser(self, parser: Parser) -> None:
        """Declares the arguments."""

    def parse(self, words: Sequence[str]) -> Namespace:
        parser = self.parser()
        return parser.parse_args(list(words))

    def parser(self) -> Parser:
        parser = Parser(prog=self.name, add_help=False, description=self.__doc__)
        self.prepare_parser(parser)
        return parser

    def parsers(self) -> dict[str, Parser]:
        """All ways to write the command, each with when it is written so ("" always), for help."""
        return {"": self.parser()}

    def complete(self, shell: Context, words: Sequence[str], word: str) -> Sequence[Completion]:
        """Offers what could stand for ``word``, the last one; ``words`` are those before it, without the command's
        name. Flags, choices and arguments that have one of the names of ``completion.OFFERS`` (TENSOR, NODE, …) are
        offered without this."""
        return ()

    def run(self, shell: Context, args: Namespace) -> Result:
        raise NotImplementedError
