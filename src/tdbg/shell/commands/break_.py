"""``break`` lists and changes the conditions that hold a running program."""

from __future__ import annotations

import re
from argparse import Namespace
from collections.abc import Sequence

from tdbg import expressions
from tdbg.capture.control import Conditions, conditions
from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.result import Column, Result, Table, text

_OUTSIDE = "no program is stopped at a condition here; start one with: tdbg run --break 'nan > 0' train.py"
_REMOVE = re.compile(r"(?:-d|--delete|remove)(?:\s+(?P<number>\S+))?")
_COLUMNS = (
    Column("#", "number", right=True),
    Column("condition", "condition"),
    Column("held", "held", right=True),
)


class Command(command.Command):
    """Lists, adds and removes the conditions that stop the program.

    A condition is an expression such as nan > 0 and op == "Log"; see help filters for the words. It applies from now
    on. Functions traced earlier are retraced at their next call if they have ops that are not being watched yet.
    """

    name = "break"
    aliases = ("b",)
    examples = (
        ("break", "list them, with how often each has stopped the program"),
        ('break nan > 0 and op == "Log"', "add one"),
        ("break remove 1", "remove the first one"),
    )
    is_raw = True

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument(
            "text", nargs="?", metavar="EXPR", help="a condition to add, or remove followed by a number"
        )

    def parse(self, words: Sequence[str]) -> Namespace:
        asked = " ".join(words).strip()
        is_quoted = len(asked) > 1 and asked[0] == asked[-1] and asked[0] in "'\"" and asked.count(asked[0]) == 2
        return Namespace(text=asked[1:-1] if is_quoted else asked)

    def complete(self, shell: command.Context, words: Sequence[str], word: str) -> Sequence[command.Completion]:
        offers = [command.Completion(name, field.meaning) for name, field in expressions.FIELDS.items()]
        if not words:
            offers = [command.Completion("remove", "by its number"), *offers]
        return [offer for offer in offers if offer.text.startswith(word)]

    def run(self, shell: command.Context, args: Namespace) -> Result:
        found = conditions()
        if found is None:
            raise TdbgError(_OUTSIDE)
        removed = _REMOVE.fullmatch(args.text)
        if removed:
            return _remove(found, removed["number"])
        asked = args.text.removeprefix("add ").strip()
        if asked:
            added = found.add(asked)
            return Result([text(f"break {added.number}: {added.text}", data={"added": added.number})])
        rows = [(one.number, one.text, one.hits) for one in found.all]
        return Result([Table(_COLUMNS, rows)] if rows else [text("this program has no conditions", data=[])])


def _remove(found: Conditions, number: str | None) -> Result:
    if number is None or not number.isdecimal():
        raise TdbgError("which break? Give its number, as in break remove 1; break lists them")
    gone = found.remove(int(number))
    return Result([text(f"removed break {gone.number}: {gone.text}", data={"removed": gone.number})])
