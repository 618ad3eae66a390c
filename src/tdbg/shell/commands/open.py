"""``open`` makes the shell look at another trace."""

from __future__ import annotations

import os
from argparse import Namespace

from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.result import Result, Span, text


class Command(command.Command):
    """Opens another trace in this shell.

    It may also be a folder that TensorFlow's debugger wrote. The screens of the previous trace are forgotten.
    """

    name = "open"
    examples = (("open other.tdbg", "look at that one"),)

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("path", metavar="TRACE", help="a trace, or a folder of TensorFlow's debugger")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        if shell.is_held:
            raise TdbgError(
                "a program is stopped here, so only its own tensors can be shown; to open a trace, use: tdbg shell"
            )
        shell.begin(shell.open_scene(os.path.expanduser(args.path)))
        scene = shell.scene
        moments = scene.moments()
        bad = sum(1 for one in moments if one.bad)
        counts = f"{len(moments):,} moments, {bad:,} with bad values"
        lines = [(Span("Now at "), Span(scene.title, "title"), Span(f"; {counts}"))]
        menu = [Span("list_tensors", "name", "lt"), Span("steps", "name", "steps"), Span("why", "name", "why")]
        return Result([text(*lines, data={"title": scene.title, "moments": len(moments), "bad": bad})], menu)
