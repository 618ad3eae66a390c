"""``where``: a tensor in; the way that its value came, op by op with the program's lines, out."""

from __future__ import annotations

from argparse import Namespace

from tdbg.errors import TdbgError
from tdbg.query.origin_path import Stop, find_way
from tdbg.scene import Seen
from tdbg.shell import command
from tdbg.shell.command import quoted
from tdbg.shell.linked import linked, place, places
from tdbg.shell.result import Cell, Column, Result, Span, Table, text
from tdbg.shell.tensor_name import TensorName
from tdbg.shell.traced import trace_scene

_HIDDEN = ("seq", "bad", "min", "max", "file", "line")


class Command(command.Command):
    """Shows where the value of a tensor came from, back to where bad values began.

    Of a tensor that holds NaN or infinity the way goes back over bad tensors to the op that made the first of them; of
    a good one, over the largest input each time, to a variable, a constant or what was given to the program. Ops that
    only move values are left out.
    """

    name = "where"
    examples = (("where cross_entropy/mul:0", "back to the op that made the infinity"), ("where -n 0 Softmax:0", ""))

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("tensor", metavar="TENSOR", help="node:slot")
        text = "which of several dumps, from 0 (default: the first bad one, else the last)"
        parser.add_argument("-n", "--number", type=int, metavar="N", help=text)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        scene = trace_scene(shell)
        name = TensorName.parse(args.tensor).tensor
        all_seen = scene.seen(name)
        if args.number is not None and not 0 <= args.number < len(all_seen):
            raise TdbgError(f"-n {args.number}: {name} has {len(all_seen)} dump(s), counted from 0")
        seen = _chosen(all_seen) if args.number is None else all_seen[args.number]
        way = find_way(scene.trace(), scene.process, seen.seq)
        columns = [
            Column("", ""),
            Column("Step", "step", right=True),
            Column("Tensor name", "tensor"),
            Column("Op type", "op_type"),
            Column("Elements", ""),
            Column("Line", ""),
            Column("", "source"),
            *(Column("", key, is_shown=False) for key in _HIDDEN),
        ]
        rows = [_row(stop, n, len(way.stops)) for n, stop in enumerate(way.stops)]
        facts = [fact.as_text() for fact in way.inputs[:4]]
        links = places(fact.frame for fact in way.inputs)
        last = way.stops[-1]
        ending = [
            (Span(way.end, "warning" if last.row.is_bad else ""),),
            *(linked(f"  {fact}", links) for fact in facts),
        ]
        title = (Span("Where "), Span(seen.tensor, "name"), Span(" came from, the tensor itself first:"))
        data = {"end": way.end, "inputs": facts}
        menu = [Span("why", "name", "why"), Span("print_tensor", "name", f"pt -s {quoted(last.tensor)}")]
        return Result([text(title), Table(columns, rows), text((), *ending, data=data)], menu)


def _chosen(all_seen: object) -> Seen:
    found = list(all_seen)  # type: ignore[call-overload]
    return next((seen for seen in found if seen.is_bad), found[-1])


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
        Span(stop.source, "code"),
        *(facts[key] for key in _HIDDEN),
    ]
