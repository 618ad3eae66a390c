"""``run_info`` tells what was asked of this run, or what this step is."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tdbg.capture.control import conditions
from tdbg.shell import command
from tdbg.shell.result import Line, Result, Span, text

_BAR = "=" * 46
_EMPTY = "(Empty)"


class Command(command.Command):
    """Shows the fetches and feeds of this run of a Session, or what is known about this step."""

    name = "run_info"
    aliases = ("ri",)
    page_lines = 9
    examples = (("ri", "what this run or step is"),)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        info = shell.scene.run_info()
        lines: list[str | Line | Span] = [Span(_BAR, "dim"), Span(info.description, "title")]
        if info.fetches or info.targets or info.feeds:
            lines += _named("Fetch(es):", info.fetches, "pt") if info.fetches or not info.targets else []
            lines += _named("Target node(s):", info.targets, "ni") if info.targets else []
            lines += _named("Feed dict:", info.feeds, "pf")
        if info.facts:
            width = max(map(len, info.facts)) + 2
            lines += ["", *(f"{label:<{width}}{fact}" for label, fact in info.facts.items())]
        if info.error:
            lines += ["", *(Span(line, "error") for line in info.error)]
        lines.append(Span(_BAR, "dim"))
        if shell.is_held:
            lines += _ways_on(shell)
        data = {
            "description": info.description,
            "fetches": list(info.fetches),
            "targets": list(info.targets),
            "feeds": list(info.feeds),
            "error": list(info.error),
            **info.facts,
        }
        return Result([text(*lines, data=data)], menu=[Span("list_tensors", link="lt"), Span("help", link="help")])


def _named(label: str, names: Sequence[str], verb: str) -> list[str | Line | Span]:
    shown: list[str | Line | Span] = [
        (Span("  "), Span(name, "name", f"{verb} {command.quoted(name)}")) for name in names
    ]
    return ["", label, *(shown or [f"  {_EMPTY}"])]


_BY_RUNS = (
    ("run", "run", "continue, and show the tensors of the next run"),
    ("run -n", "run -n", "the same without the debugger"),
    ("run -t <T>", "", "T runs, stopping after the last"),
)
_BY_STEPS = (
    ("run", "run", "continue to the next tensor that meets a condition"),
    ("run -n", "run -n", "continue; conditions apply again from the next step"),
    ("run -t <T>", "", "continue to where the T-th step from here begins"),
    ("break", "break", "list, add or remove conditions"),
)


def _ways_on(shell: command.Context) -> list[str | Line | Span]:
    filters = ", ".join(shell.scene.filters)
    ways = (
        *(_BY_STEPS if conditions() is not None else _BY_RUNS),
        ("run -f <filter>", "", f"until a tensor passes a filter: {filters}"),
        ("help", "help", "everything else"),
    )
    return [
        "",
        *((Span("  "), Span(f"{word:<20}", "name" if link else "", link), Span(said)) for word, link, said in ways),
    ]
