"""``grad`` shows the norms of all layers' gradients over the steps, as a table with small charts."""

from __future__ import annotations

import math
from argparse import Namespace
from typing import TYPE_CHECKING

from tdbg.shell import command
from tdbg.shell.result import Cell, Column, Result, Span, Table, text
from tdbg.shell.sparkline import sparkline

if TYPE_CHECKING:
    from tdbg.query.over_time.curves import Curve

_LEAST_BARS, _MOST_BARS, _OTHER_COLUMNS = 10, 40, 76


class Command(command.Command):
    """Shows the gradient of each layer over the training steps: its first, last and largest norm, and a small chart.

    Layers are in forward order. × marks steps in which the gradient held NaN or infinity. -w shows weights instead.
    """

    name = "grad"
    examples = (("grad", "the norm of each layer's gradient"), ("grad -w", "the norm of each variable"))

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("-w", "--weights", action="store_true", help="show the variables instead of the gradients")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.query.over_time.curves import Curves
        from tdbg.shell.recorded_scene import recorded_scene

        scene = recorded_scene(shell)
        over_steps = Curves(scene.trace(), scene.process)
        curves = over_steps.weights_by_step() if args.weights else over_steps.gradient_by_layer()
        curves = [curve for curve in curves if any(point.value is not None or point.bad for point in curve.points)]
        what = "variables" if args.weights else "gradients"
        if not curves:
            said = f"no {what} were recorded with numbers; record the training with tdbg run --mode numerics"
            return Result([text(Span(said, "warning"), data={"layers": 0})])
        columns = [
            Column("Variable" if args.weights else "Layer", "name"),
            Column("first norm", "first", right=True),
            Column("last finite", "last", right=True),
            Column("most", "most", right=True),
            Column("bad steps", "", right=True),
            Column("", "bad_steps", is_shown=False),
            Column("over steps", ""),
        ]
        bars = min(max((shell.width or _MOST_BARS + _OTHER_COLUMNS) - _OTHER_COLUMNS, _LEAST_BARS), _MOST_BARS)
        each = f"; {over_steps.steps_per_point} steps share a point" if over_steps.steps_per_point > 1 else ""
        headline = f"Norms of {len(curves)} {what} over steps{each}"
        other = Span("gradients", "name", "grad") if args.weights else Span("weights", "name", "grad -w")
        return Result([text(headline), Table(columns, [_row(curve, bars) for curve in curves])], [other])


def _row(curve: Curve, bars: int) -> list[Cell]:
    finite = [point.value for point in curve.points if point.value is not None]
    drawn = [(point.step, math.nan if point.bad or point.value is None else point.value) for point in curve.points]
    bad = sum(1 for point in curve.points if point.bad)
    first, last = (finite[0], finite[-1]) if finite else (None, None)
    bad_steps = Span(f"{bad:,}", "nan") if bad else 0
    return [Span(curve.name, "name"), first, last, max(finite, default=None), bad_steps, bad, sparkline(drawn, bars)]
