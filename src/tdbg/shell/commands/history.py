"""``history`` shows a tensor's numbers over all steps, as a chart and a table."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from tdbg.errors import TdbgError
from tdbg.shell import command
from tdbg.shell.command import quoted
from tdbg.shell.place_links import step_link
from tdbg.shell.result import Block, Cell, Column, Mapped, Plot, Result, Span, Table, text
from tdbg.shell.tensor_name import TensorName

if TYPE_CHECKING:
    from tdbg.query.over_time.curves import Point

_QUANTITIES = ("max_abs", "mean", "min", "max")


class Command(command.Command):
    """Shows one tensor over all training steps: a chart, and a table with the steps as links.

    Steps in which it held NaN or infinity are marked. The numbers are those of its finite elements.
    """

    name = "history"
    examples = (
        ("history cross_entropy/Log:0", "its largest absolute value over steps"),
        ("history -q mean Softmax:0", "its mean"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("tensor", metavar="TENSOR", help="node:slot")
        text = "what the chart shows (default: max_abs)"
        parser.add_argument("-q", "--quantity", choices=_QUANTITIES, default="max_abs", help=text)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.query.over_time.tensor_history import find_history
        from tdbg.shell.recorded_scene import recorded_scene

        scene = recorded_scene(shell)
        name = TensorName.parse(args.tensor).tensor
        curve, width = find_history(scene.trace(), scene.process, name)
        if not curve.points:
            raise TdbgError(f"no step of this trace has numbers of {name}; lt lists what was recorded")
        count = len(curve.points)
        bad_steps = [point.step for point in curve.points if point.bad]
        steps = f", {count:,} step{'s' * (count != 1)}" if width == 1 else f", {count:,} points of {width:,} steps each"
        lines: list = [(Span("History of "), Span(name, "name"), Span(steps))]
        if bad_steps:
            said = f"bad in {len(bad_steps):,} of them, first in step {bad_steps[0]}"
            lines.append((Span(f"  {said}", "nan", step_link(shell.scene, bad_steps[0], f"pt -s {quoted(name)}")),))
        if width > 1:
            lines.append((Span(f"  each point stands for {width:,} neighbouring steps", "dim"),))
        series = [(point.step, _value(point, args.quantity)) for point in curve.points]
        blocks: list[Block] = [
            text(*lines, (), data={"tensor": name, "bad_steps": bad_steps, "steps_per_point": width})
        ]
        if any(value is not None for _, value in series):
            plotted = [(step, float("nan") if value is None else value) for step, value in series]
            blocks += [Plot(args.quantity, {name: plotted}, bad_steps), text(())]

        def row(point: Point) -> list[Cell]:
            link = step_link(shell.scene, point.step, f"pt -s {quoted(name)}")
            step = Span(str(point.step), "name" if link else "", link)
            bad = Span(f"{point.bad:,}", "nan") if point.bad else 0
            return [step, point.step, point.value, point.low, point.high, bad, point.bad]

        columns = [Column("Step", "", right=True), Column("", "step", is_shown=False)]
        columns += [Column(title, title, right=True) for title in ("mean", "min", "max")]
        columns += [Column("bad", "", right=True), Column("", "bad", is_shown=False)]
        blocks.append(Table(columns, Mapped(curve.points, row)))
        menu = [Span(one, "name", f"history -q {one} {quoted(name)}") for one in _QUANTITIES]
        return Result(blocks, [*menu, Span("where", "name", f"where {quoted(name)}")])


def _value(point: Point, quantity: str) -> float | None:
    """Gives a quantity of the finite elements; None when there are none, or they were not measured."""
    if quantity == "mean":
        return point.value
    if point.low is None or point.high is None:
        return None
    return {"max_abs": max(abs(point.low), abs(point.high)), "min": point.low, "max": point.high}[quantity]
