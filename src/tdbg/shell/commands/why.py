"""``why`` gives the verdict on the whole trace: where bad values began, why, how far they spread, what to do."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from tdbg.model import Frame
from tdbg.shell import command
from tdbg.shell.command import quoted
from tdbg.shell.place_links import linked, places, step_link
from tdbg.shell.result import Line, Result, Span, Text

if TYPE_CHECKING:
    from tdbg.query.verdict.verdict import Verdict

_WIDE = 10_000  # nothing is cut; the layout wraps


class Command(command.Command):
    """Explains where bad values began: your line, the cause and its evidence, how far they spread, and a fix.

    It covers the whole trace, not only this step. If there are no bad values, it reports what is unhealthy in training.
    """

    name = "why"
    examples = (("why", "the verdict"),)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.query.scene.ops import Ops
        from tdbg.query.verdict.text import full_lines
        from tdbg.shell.recorded_scene import recorded_scene

        scene = recorded_scene(shell)
        trace, verdict = scene.trace(), scene.verdict()
        links = places(_frames(verdict))
        lines = [_line(text, links) for text in full_lines(verdict, _WIDE)]
        first = verdict.first
        if first is None:
            menu = [Span("health", "name", "health"), Span("steps", "name", "steps")]
            return Result([Text(lines, verdict.as_dict())], menu)
        node = Ops(trace, first.process).name_of(first.op.number, first.row.is_input) or first.op.name
        tensor = quoted(f"{node}:{first.row.slot}")

        def there(line: str) -> str:
            return step_link(scene, first.row.step, line) or line

        menu = [
            Span("print_tensor", "name", there(f"pt -s {tensor}")),
            Span("where", "name", there(f"where {tensor}")),
            Span("node_info", "name", f"ni -t {quoted(node)}"),
            Span("history", "name", f"history {tensor}"),
        ]
        names: Line = (Span("    tensor: "), Span(f"{node}:{first.row.slot}", "name", menu[0].link))
        at = next((n for n, text in enumerate(lines) if n and not text), len(lines))
        return Result([Text([*lines[:at], names, *lines[at:]], verdict.as_dict())], menu)


def _frames(verdict: Verdict) -> list[Frame | None]:
    found = [origin.frame for origin in verdict.origins]
    found += [fact.frame for origin in verdict.origins for fact in origin.inputs]
    found += [one.frame for one in verdict.benign]
    found += [Frame(alert.file, alert.line, "", True) for alert in verdict.alerts if alert.file and alert.line]
    return found


def _line(text: str, links: dict[str, str]) -> Line:
    if not text:
        return ()
    is_clean = text.startswith("tdbg: no bad values found")
    style = "good" if is_clean else "title" if text.startswith("tdbg: ") else "user" if text.startswith(" -> ") else ""
    if text.startswith(("    fix:", "    +")):
        style = "good"
    return linked(text, links, style)
