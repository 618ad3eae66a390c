"""``where`` shows the way that a tensor's value came, op by op with the program's lines."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tdbg.errors import TdbgError
from tdbg.scene import Seen
from tdbg.shell import command
from tdbg.shell.command import quoted
from tdbg.shell.place_links import linked, place, places
from tdbg.shell.result import Cell, Column, Line, Result, Span, Table, Text, text
from tdbg.shell.tensor_name import TensorName

if TYPE_CHECKING:
    from tdbg.query.flow.origin_path import Stop, Way

_MOST_INPUTS = 4
_HIDDEN = ("seq", "bad", "min", "max", "file", "line", "source")
_COLUMNS = [
    Column("", ""),
    Column("Step", "step", right=True),
    Column("Tensor name", "tensor"),
    Column("Op type", "op_type"),
    Column("Elements", ""),
    Column("Line", ""),
    *(Column("", key, is_shown=False) for key in _HIDDEN),
]


class Command(command.Command):
    """Shows where the value of a tensor came from, back to where bad values began.

    For a tensor that holds NaN or infinity, the path leads back over bad tensors to the op that produced the first one;
    for a good tensor, it follows the largest input each time, to a variable, a constant or an input of the program. Ops
    that only move values are left out.
    """

    name = "where"
    page_lines = 8
    examples = (
        ("where cross_entropy/mul:0", "back to the op that produced the infinity"),
        ("where -n 0 Softmax:0", "the first of several dumps"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("tensor", metavar="TENSOR", help="node:slot")
        text = "which of several dumps, counting from 0 (default: the first bad one, or else the last)"
        parser.add_argument("-n", "--number", type=int, metavar="N", help=text)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.query.flow.origin_path import find_way
        from tdbg.shell.recorded_scene import recorded_scene

        scene = recorded_scene(shell)
        name = TensorName.parse(args.tensor).tensor
        seen = _chosen(scene.seen(name), args.number, name)
        way = find_way(scene.trace(), scene.process, seen.seq)
        rows = [_row(stop, n, len(way.stops)) for n, stop in enumerate(way.stops)]
        first, last = way.stops[0].row, way.stops[-1]
        later = f", from the first time that it was bad, step {first.step}" if first.seq != seen.seq else ""
        title = (Span("Where "), Span(seen.tensor, "name"), Span(f" came from{later}, the tensor itself first:"))
        menu = [Span("why", "name", "why"), Span("print_tensor", "name", f"pt -s {quoted(last.tensor)}")]
        return Result([text(title), Table(_COLUMNS, rows), _ending(way)], menu)


def _chosen(all_seen: Sequence[Seen], number: int | None, name: str) -> Seen:
    if number is None:
        return next((seen for seen in all_seen if seen.is_bad), all_seen[-1])
    if not 0 <= number < len(all_seen):
        raise TdbgError(f"-n {number}: {name} has {len(all_seen):,} dump{'s' * (len(all_seen) != 1)}, counted from 0")
    return all_seen[number]


def _ending(way: Way) -> Text:
    last = way.stops[-1]
    facts = [fact.as_text() for fact in way.inputs[:_MOST_INPUTS]]
    links = places(fact.frame for fact in way.inputs)
    lines: list[Line] = [()]
    if last.frame is not None:
        lines.append((Span(" -> "), place(last.frame.file, last.frame.line), Span(f"  {last.source}", "code")))
    lines.append((Span(f"    {way.end}", "warning" if last.row.is_bad else ""),))
    lines += [linked(f"    {fact}", links) for fact in facts]
    return Text(lines, {"end": way.end, "inputs": facts})


def _row(stop: Stop, at: int, count: int) -> list[Cell]:
    row = stop.row
    mark = "●" if at == count - 1 else "│" if at else "○"
    if row.is_bad:
        elements: Cell = Span(row.bad_text(), "nan" if row.nan else "inf")
    elif row.min is not None and row.max is not None:
        elements = f"{row.min:.4g} … {row.max:.4g}"
    else:
        elements = None
    facts = stop.as_dict()
    return [
        Span(mark, "warning" if at == count - 1 else "dim"),
        row.step,
        Span(stop.tensor, "name", f"pt {quoted(stop.tensor)}"),
        Span(stop.op.type, "op"),
        elements,
        place(stop.frame.file, stop.frame.line) if stop.frame else None,
        *(facts[key] for key in _HIDDEN),
    ]
