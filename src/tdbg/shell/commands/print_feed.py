"""``print_feed`` shows the value that a run was given for a feed."""

from __future__ import annotations

import difflib
from argparse import Namespace
from collections.abc import Sequence

import numpy as np

from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.command import quoted
from tdbg.shell.result import Result, Span
from tdbg.shell.tensor_blocks import add_value_flags, question, value_blocks, write
from tdbg.shell.tensor_name import TensorName, take
from tdbg.shell.tensor_part import TensorPart


class Command(command.Command):
    """Shows what this run of a Session was fed.

    It takes the same flags and slices as print_tensor.
    """

    name = "print_feed"
    aliases = ("pf",)
    page_lines = 6
    examples = (("pf x:0", "a value of the feed_dict"), ("pf -s x:0[0, :]", "a slice, with a numeric summary"))

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("feed", metavar="FEED", help="the name of a tensor that was fed, optionally with a slice")
        add_value_flags(parser)

    def parse(self, words: Sequence[str]) -> Namespace:
        args = super().parse(words)
        args.again = " ".join(["pf", *map(quoted, words)])
        return args

    def run(self, shell: command.Context, args: Namespace) -> Result:
        name = TensorName.parse(args.feed)
        feeds = shell.scene.feeds()
        known = next((one for one in (name.tensor, f"{name.tensor}:0") if one in feeds), None)
        if known is None:
            raise TdbgError(_unknown(name.tensor, list(feeds)))
        array = np.asarray(feeds[known])
        shown = take(array, name.index, known)
        asked = question(shown, args, shell.can_ask, args.again)
        if asked is not None:
            return asked
        written = [write(shown, args.write_path, args.force)] if args.write_path else []
        blocks = value_blocks(f"{known}{name.brackets} (feed)", shown, args, TensorPart.of(array.shape, name.index))
        node = quoted(known.partition(":")[0])
        menu = [Span("run_info", "name", "run_info"), Span("list_outputs", "name", f"lo -r {node}")]
        return Result([*written, *blocks], menu)


def _unknown(name: str, known: list[str]) -> str:
    if not known:
        return "nothing was fed to this run; pt shows the tensors it computed"
    near = difflib.get_close_matches(name, known, 1)
    return f"no feed {name!r}; " + (f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}")
