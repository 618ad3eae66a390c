"""``alerts`` lists the alerts of the whole trace: bad values, functions traced again, shapes that changed."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

from tdbg.query.over_time.alert_kinds import KINDS
from tdbg.shell import command
from tdbg.shell.command import quoted
from tdbg.shell.place_links import linked, place, step_link
from tdbg.shell.result import Cell, Column, Mapped, Result, Span, Table, text

_SAID = {"bad_values": "outputs with bad values", "retrace": "functions traced again", "shape_change": "changed shapes"}
_HIDDEN = ("step", "seq", "process", "op", "file", "line")
_STYLES = {"bad_values": "nan", "retrace": "warning", "shape_change": "warning"}


class Command(command.Command):
    """Lists alerts: outputs with bad values, functions that were retraced, shapes that changed.

    They cover the whole trace, in order of time, and include masks and other harmless infinities; why tells those
    apart.
    """

    name = "alerts"
    examples = (("alerts", "all of them"), ("alerts -k retrace", "functions that were traced again"))

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("-k", "--kind", choices=KINDS, help="only alerts of this kind")

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.query.scene.ops import Ops

        trace = shell.scene.trace()
        found = trace.alerts().to_pylist()
        counts = {kind: sum(row["kind"] == kind for row in found) for kind in KINDS}
        said = ", ".join(f"{_SAID[kind]}: {count:,}" for kind, count in counts.items() if count)
        shown = [row for row in found if args.kind in (None, row["kind"])]
        menu = [Span(f"{kind} {count:,}", "name", f"alerts -k {kind}") for kind, count in counts.items() if count]
        headline = f"{len(shown):,} alert{'s' * (len(shown) != 1)}" + (f" ({said})" if said else "")
        if not shown:
            return Result([text(Span(headline, "good"), data=[])], menu)
        columns = [
            Column("Kind", "kind"),
            Column("Step", "", right=True),
            Column("Line", ""),
            Column("", "text"),
            *(Column("", key, is_shown=False) for key in _HIDDEN),
        ]
        ops = {process.index: Ops(trace, process.index) for process in trace.processes}

        def row(one: dict[str, Any]) -> list[Cell]:
            at = ops[one["process"]].at.get(one["op"], -1)
            return _row(one, ops[one["process"]].names[at] if at >= 0 else "", step_link(shell.scene, one["step"]))

        return Result([text(f"{headline}:"), Table(columns, Mapped(shown, row))], menu)


def _row(row: dict[str, Any], node: str, link: str) -> list[Cell]:
    kind = Span(row["kind"], _STYLES[row["kind"]])
    step = Span(str(row["step"]), "name" if link else "", link) if row["step"] >= 0 else None
    said = linked(row["text"], {node: f"ni -t {quoted(node)}"} if node else {})
    return [kind, step, place(row["file"], row["line"]), said, *(row[key] for key in _HIDDEN)]
