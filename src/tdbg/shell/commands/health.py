"""``health`` tells what is unhealthy in training, whether or not there are bad values: the rules' alerts."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING

from tdbg.shell import command
from tdbg.shell.place_links import place, step_link
from tdbg.shell.result import Line, Result, Span, text

if TYPE_CHECKING:
    from tdbg.query.rules import Alert


class Command(command.Command):
    """Reports what is unhealthy in training, such as dead units or gradients that vanish or explode.

    Each alert gives the line, the numbers, why it matters and what to do. Rules that could not be checked are listed.
    """

    name = "health"
    page_lines = 2
    examples = (("health", "all rules"),)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        from tdbg.shell.recorded_scene import recorded_scene

        verdict = recorded_scene(shell).verdict()
        alerts, notes = verdict.alerts, verdict.health.notes()
        lines: list = []
        for alert in alerts:
            lines += [*_lines(alert, step_link(shell.scene, alert.step)), ()]
        asked = verdict.health.asked
        if not alerts and asked:
            count = f"{len(asked)} rule{'s' * (len(asked) != 1)}"
            lines.append(Span(f"Found nothing unhealthy in the training: {count} checked.", "good"))
        elif not alerts:
            lines.append(Span("tdbg cannot tell whether the training is healthy: no rule could be checked.", "warning"))
        if verdict.first is not None:
            before = f"Only what came before the first bad value, in step {verdict.first.row.step}, was checked; see "
            lines.append((Span(before, "dim"), Span("why", "name", "why")))
        lines += [Span(f"note: {note}", "dim") for note in notes]
        data = {"alerts": [alert.as_dict() for alert in alerts], "rules_not_asked": dict(verdict.health.skipped)}
        return Result([text(*lines, data=data)], [Span("grad", "name", "grad"), Span("why", "name", "why")])


def _lines(alert: Alert, link: str) -> list[Line]:
    first: Line = (Span(alert.text, "warning"), Span(f"  [{alert.rule}]", "dim"))
    where: list[Line] = []
    if alert.file:
        where = [(Span(" -> "), place(alert.file, alert.line), Span(f"  {alert.source}", "code"))]
    since: Line = (Span("    from "), Span(f"step {alert.step}", "name" if link else "", link))
    facts: list[Line] = [(Span(f"    {sentence}"),) for sentence in alert.evidence]
    return [first, *where, since, *facts, (Span(f"    why: {alert.why}"),), (Span(f"    fix: {alert.fix}", "good"),)]
