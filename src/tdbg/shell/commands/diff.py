"""``diff`` finds the first place where this run and that of another trace part."""

from __future__ import annotations

import os
from argparse import Namespace

from tdbg.shell import command
from tdbg.shell.diff_options import add_diff_options
from tdbg.shell.place_links import linked, places
from tdbg.shell.result import Result, Text

_WIDE = 10_000  # nothing is cut; the layout wraps


class Command(command.Command):
    """Finds where this run and another diverge: the first op and line that differ by more than rounding.

    The other trace is of the same program: perhaps another version of it, or another seed, element type or machine. A
    is the trace that is open, B the other one.
    """

    name = "diff"
    examples = (("diff other.tdbg", "compare with another trace"), ("diff --exact other.tdbg", "bit by bit"))

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("other", metavar="TRACE", help="the other trace")
        add_diff_options(parser)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.query.compare.diff import compare
        from tdbg.query.compare.text import lines as diff_lines

        diff = compare(
            shell.scene.trace(), shell.open_scene(os.path.expanduser(args.other)).trace(), args.exact, args.numbers_only
        )
        links = places([diff.parting.side.frame]) if diff.parting else {}
        texts = diff_lines(diff, _WIDE)
        shown = [linked(line, links, "title" if line.startswith("tdbg: ") else "") for line in texts]
        return Result([Text(shown, diff.as_dict())])
