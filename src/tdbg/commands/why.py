"""``tdbg why`` prints the verdict on a trace."""

from __future__ import annotations

import os
import shlex
from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from tdbg import commands
from tdbg.commands.trace_argument import add_trace_argument, open_trace

if TYPE_CHECKING:
    from tdbg.query.verdict.verdict import Verdict


class Command(commands.BaseCommand):
    """Explain where bad values began: the line, the cause with evidence, how far they spread.

    Exit status: 0 if all is well, 1 if trouble was found, 2 if the trace cannot be read.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        add_trace_argument(parser)
        parser.add_argument("--json", action="store_true", help="print the verdict as JSON")
        parser.add_argument("--ignore", metavar="RULE[,RULE]", help="health rules to skip")

    def run(self, args: Namespace) -> int:
        import shutil

        from tdbg.query.verdict.text import full_lines
        from tdbg.query.verdict.verdict import explain
        from tdbg.strict_json import to_json

        verdict = explain(open_trace(args.trace), ignored_rules(args.ignore))
        if args.json:
            print(to_json(verdict.as_dict(), indent=1))
        else:
            print("\n".join(full_lines(verdict, width=shutil.get_terminal_size((100, 24)).columns)))
        return 1 if verdict.is_trouble else 2 if verdict.is_unreadable else 0


def short_verdict(verdict: Verdict, trace: str) -> list[str]:
    """Writes what is said when a recording ends: the verdict, and what to type next."""
    from tdbg.query.verdict.text import short_lines

    return [*short_lines(verdict), next_command(verdict.is_trouble, trace)]


def ignored_rules(given: str | None) -> frozenset[str]:
    """Reads the health rules of ``--ignore`` and of TDBG_IGNORE; TdbgError for a name that is none."""
    from tdbg.errors import TdbgError
    from tdbg.query.rules import NAMES

    found = set()
    for place, text in (("--ignore", given), ("TDBG_IGNORE", os.environ.get("TDBG_IGNORE"))):
        names = {name.strip() for name in (text or "").split(",") if name.strip()}
        for name in sorted(names - set(NAMES)):
            raise TdbgError(f"{place} {name}: there is no such health rule; the rules are {', '.join(NAMES)}")
        found |= names
    return frozenset(found)


def next_command(is_trouble: bool, trace: str) -> str:
    """Says what to type after a verdict: for the whole story where there is trouble, an overview where there is none;
    or for the page."""
    quoted = shlex.quote(trace)
    return f"next:  tdbg {'why' if is_trouble else 'info'} {quoted}   or   tdbg serve {quoted}"
