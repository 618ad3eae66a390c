"""``tdbg diff`` finds the first place where two runs part."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from tdbg import commands
from tdbg.commands.trace_argument import open_trace


class Command(commands.BaseCommand):
    """Find where two runs diverge: the first op and line that differ by more than rounding.

    A and B are traces of the same program: perhaps another version of it, or another seed, element type or machine.
    Lines may have moved, and ops may have been added or removed. Exit status: 0 if the runs are the same, 1 if they
    diverge, 2 if a trace cannot be read.
    """

    def prepare_parser(self, parser: ArgumentParser) -> None:
        from tdbg.shell.diff_options import add_diff_options

        parser.add_argument("a", metavar="A", help="a trace")
        parser.add_argument("b", metavar="B", help="the trace to compare it with")
        add_diff_options(parser)
        parser.add_argument("--json", action="store_true", help="print the answer as JSON")

    def run(self, args: Namespace) -> int:
        import shutil

        from tdbg.query.compare.diff import compare
        from tdbg.query.compare.text import lines
        from tdbg.strict_json import to_json

        diff = compare(open_trace(args.a), open_trace(args.b), args.exact, args.numbers_only)
        if args.json:
            print(to_json(diff.as_dict(), indent=1))
        else:
            print("\n".join(lines(diff, width=shutil.get_terminal_size((100, 24)).columns)))
        return 1 if diff.parting else 0
