"""``print_tensor`` shows the elements of a tensor or a slice of it, or what is known of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from itertools import islice

import numpy as np

from tdbg.errors import TdbgError
from tdbg.scene import Seen
from tdbg.shell import command
from tdbg.shell.command import quoted
from tdbg.shell.numeric_summary import summary_text
from tdbg.shell.result import Block, Result, Span, text
from tdbg.shell.tensor_blocks import add_value_flags, header, question, value_blocks, write
from tdbg.shell.tensor_name import TensorName, take
from tdbg.shell.tensor_part import TensorPart

_MOST_LISTED = 10
_MOST_LOOKED_THROUGH = 100_000


class Command(command.Command):
    """Shows the elements of a tensor, or of a slice of it.

    Slices are numpy's: TENSOR[0:50, :], TENSOR[..., -1], TENSOR[::-2]. If a tensor was seen several times in this step
    (in a loop, or over all steps), the first is shown; -n chooses another. Then @[i,j] goes to an element. If the
    elements were not kept, the recorded numbers are shown, and how to keep the elements.
    """

    name = "print_tensor"
    aliases = ("pt",)
    page_lines = 8
    examples = (
        ("pt cross_entropy/Log:0", "the elements, with ellipses if there are many"),
        ("pt cross_entropy/Log:0[0, -2:]", "a slice"),
        ("pt -s cross_entropy/Log:0", "with a numeric summary"),
        ("pt cross_entropy/Log:0 -a -r [[-inf,-1],[1,inf]]", "all elements, with those beyond ±1 highlighted"),
        ("pt --histogram Softmax:0", "with a histogram"),
        ("pt -n 0 Softmax:0 -w softmax.npy --force", "the first dump, to a file"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument(
            "tensor", metavar="TENSOR", help="node:slot[:debug_op], optionally with a slice in brackets"
        )
        parser.add_argument("-n", "--number", type=int, metavar="N", help="which of several dumps, counting from 0")
        add_value_flags(parser)

    def parse(self, words: Sequence[str]) -> Namespace:
        args = super().parse(words)
        args.again = " ".join(["pt", *map(quoted, words)])
        return args

    def run(self, shell: command.Context, args: Namespace) -> Result:
        name = TensorName.parse(args.tensor)
        all_seen = shell.scene.seen(name.tensor, name.debug_op, name.device)
        seen = _chosen(all_seen, args.number, name.tensor)
        several = _several(all_seen, name) if len(all_seen) > 1 and args.number is None else []
        title = f"{seen.tensor}:{seen.debug_op}{name.brackets}"
        menu = _menu(shell, seen)
        try:
            array = np.asarray(shell.scene.value(seen))
        except TdbgError as problem:
            if args.write_path:
                raise
            return Result([*several, *_numbers(seen, title, str(problem))], menu)
        shown = take(array, name.index, seen.tensor)
        asked = question(shown, args, shell.can_ask, args.again)
        if asked is not None:
            return asked
        written = [write(shown, args.write_path, args.force)] if args.write_path else []
        return Result(
            [*several, *written, *value_blocks(title, shown, args, TensorPart.of(array.shape, name.index))], menu
        )


def _chosen(all_seen: Sequence[Seen], number: int | None, tensor: str) -> Seen:
    if number is None:
        return all_seen[0]
    if not 0 <= number < len(all_seen):
        there = "one dump, number 0" if len(all_seen) == 1 else f"dumps 0 to {len(all_seen) - 1:,}"
        raise TdbgError(f"-n {number}: {tensor} has {there}")
    return all_seen[number]


def _several(all_seen: Sequence[Seen], name: TensorName) -> list[Block]:
    lines: list = [f'Tensor "{name.tensor}" was seen {len(all_seen):,} times; -n N shows one other than the first:']
    for number, seen in enumerate(all_seen[:_MOST_LISTED]):
        link = f"pt {quoted(name.tensor + name.brackets)} -n {number}"
        facts = [f"{seen.time:.3f} ms", f"step {seen.step}" if seen.step >= 0 else ""]
        facts += [f"iteration {seen.iteration}" if seen.iteration >= 0 else "", "bad" if seen.is_bad else ""]
        lines.append((Span("  "), Span(f"#{number}", "name", link), Span(f"  {', '.join(filter(None, facts))}")))
    if len(all_seen) > _MOST_LISTED:
        lines.append((Span(f"  … {len(all_seen) - _MOST_LISTED:,} more", "dim"),))
        lines += _first_bad(all_seen, name)
    return [text(*lines, "", data={"dumps": len(all_seen)})]


def _first_bad(all_seen: Sequence[Seen], name: TensorName) -> list:
    """Names the first bad dump where it is not among those listed."""
    bad = next((number for number, seen in enumerate(islice(all_seen, _MOST_LOOKED_THROUGH)) if seen.is_bad), 0)
    if bad < _MOST_LISTED:
        return []
    link = f"pt {quoted(name.tensor + name.brackets)} -n {bad}"
    return [(Span("  the first with NaN or infinity: ", "warning"), Span(f"#{bad}", "name", link))]


def _numbers(seen: Seen, title: str, problem: str) -> list[Block]:
    """Shows what is known of a tensor whose elements were not kept."""
    blocks: list[Block] = [header(title, seen.dtype, seen.shape)]
    if seen.numbers is not None:
        blocks.append(summary_text(seen.numbers, seen.dtype))
    elif seen.is_bad is not None:
        blocks.append(text("It holds NaN or infinity." if seen.is_bad else "All elements are finite.", ""))
    return [*blocks, text(Span(problem, "warning"), data={"not_kept": problem})]


def _menu(shell: command.Context, seen: Seen) -> list[Span]:
    node, tensor = quoted(seen.node), quoted(seen.tensor)
    links = {
        "node_info": f"ni -a -d -t {node}",
        "list_inputs": f"li -r {node}",
        "list_outputs": f"lo -r {node}",
        "numeric_summary": f"pt -s --histogram {tensor}" + (f" -n {seen.number}" if seen.number else ""),
        "history": f"history {tensor}",
        "where": f"where {tensor}",
    }
    menu = [Span(label, "name", link) for label, link in links.items()]
    try:
        frame = next((frame for frame, _ in shell.scene.node(seen.node).stack if frame.is_user), None)
    except TdbgError:  # the trace does not tell which op it was
        frame = None
    if frame is not None:
        menu.append(Span("print_source", "name", f"ps {quoted(frame.file)} -b {frame.line}"))
    return menu
