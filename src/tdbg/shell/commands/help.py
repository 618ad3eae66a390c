"""``help`` explains all commands, one of them, or the language of filters."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Sequence

from tdbg.expressions import FIELDS
from tdbg.shell import command
from tdbg.shell.commands import all_commands
from tdbg.shell.help_text import SIGNS, description, flags_of, usages_of
from tdbg.shell.result import Line, Result, Span, Text

_FILTERS = "filters"


class Command(command.Command):
    """Explains the commands, one command, or how to write conditions."""

    name = "help"
    aliases = ("h",)
    examples = (
        ("help", "all commands"),
        ("help lt", "one command, with its flags and examples"),
        ("help filters", "the words you can use in conditions, as in lt -f 'nan > 0'"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("command", nargs="?", metavar="COMMAND", help="a command, an alias of one, or filters")

    def complete(self, shell: command.Context, words: Sequence[str], word: str) -> Sequence[command.Completion]:
        is_wanted = word and _FILTERS.startswith(word)
        return [command.Completion(_FILTERS, "how conditions are written")] if is_wanted else ()

    def run(self, shell: command.Context, args: Namespace) -> Result:
        if args.command is None:
            lines = list(_overview())
        elif args.command == _FILTERS:
            lines = list(_filters(shell))
        else:
            lines = list(_about(shell.command(args.command)))
        return Result([Text(lines)], menu=[Span("help", link="help"), Span("filters", link="help filters")])


def _overview() -> Iterator[Line]:
    yield (Span("Type a command; Tab completes it, Up recalls earlier ones. help COMMAND explains its flags."),)
    yield ()
    for name, one in all_commands().items():
        words = ", ".join(one.aliases)
        link = Span(name, "name", f"help {name}")
        space = " " * max(1, 26 - len(name) - len(words) - 3)
        yield (Span("  "), link, Span(f" ({words})" if words else "   ", "dim"), Span(space), Span(one.summary()))
    yield ()
    for sign, meaning in SIGNS:
        yield (Span(f"  {sign:<26}"), Span(meaning))


def _about(one: command.Command) -> Iterator[Line]:
    names = ", ".join((one.name, *one.aliases))
    yield (Span(names, "title"),)
    yield ()
    for line in description(one):
        yield (Span(line),)
    for usage in usages_of(one):
        yield ()
        if usage.when:
            yield (Span(f"{usage.when}:"),)
        for line in usage.lines:
            yield (Span(line, "code"),)
        width = max((len(flag) for flag, _ in flags_of(usage.parser)), default=0) + 2
        for flag, meaning in flags_of(usage.parser):
            yield (Span(f"  {flag:<{width}}"), Span(meaning))
    if one.examples:
        yield ()
        yield (Span("examples:"),)
        width = max(len(typed) for typed, _ in one.examples) + 2
        for typed, does in one.examples:
            yield (Span("  "), Span(typed, "name", typed), Span(" " * (width - len(typed))), Span(does, "dim"))


def _filters(shell: command.Context) -> Iterator[Line]:
    yield (Span("A filter is a name, or a condition in quotes:"),)
    for typed in (
        "lt -f has_inf_or_nan",
        "lt -f 'nan > 0 and op == \"Log\"'",
        "lt -f 'name ~ \"dense.*\" and max_abs > 1e4'",
    ):
        yield (Span("  "), Span(typed, "name", typed))
    yield ()
    yield (Span("Names: " + ", ".join(shell.scene.filters)),)
    yield (Span("Conditions: < <= > >= == != compare, ~ and !~ search a regular expression, in 10:20 is a range;"),)
    yield (Span("and, or, not and parentheses combine them. The words are:"),)
    width = max(map(len, FIELDS)) + 2
    for name, field in FIELDS.items():
        yield (Span(f"  {name:<{width}}", "code"), Span(field.meaning))
