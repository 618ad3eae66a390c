"""``steps`` lists the moments of a trace, and goes from one to another."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence

from tdbg.errors import TdbgError
from tdbg.scene import Moment
from tdbg.shell import command
from tdbg.shell.command import Completion
from tdbg.shell.result import Block, Cell, Column, Mapped, Result, Span, Table, text


class Command(command.Command):
    """Lists the training steps, or the runs of a Session, with how many tensors were bad, or goes to one of them.

    Commands look at one step at a time, starting with that of the first bad value. steps all looks at all of them
    together.
    """

    name = "steps"
    examples = (
        ("steps", "the list"),
        ("steps bad", "those with bad values"),
        ("steps 3", "go there"),
        ("steps all", "look at all together"),
    )

    def prepare_parser(self, parser: command.Parser) -> None:
        parser.add_argument("where", nargs="?", default="", metavar="N|all|bad", help="the step to go to, all, or bad")

    def complete(self, shell: command.Context, words: Sequence[str], word: str) -> Sequence[Completion]:
        offers = [Completion("all", "look at all steps together"), Completion("bad", "list those with bad values")]
        offers += [Completion(str(one.number), one.title) for one in shell.scene.moments()]
        return [offer for offer in offers if offer.text.startswith(word)]

    def parse(self, words: Sequence[str]) -> Namespace:
        """Takes a negative number for a step: what comes before the first one has the number -1, which is no flag."""
        return Namespace(where=words[0]) if len(words) == 1 and words[0].lstrip("-").isdigit() else super().parse(words)

    def run(self, shell: command.Context, args: Namespace) -> Result:
        if args.where in ("", "bad"):
            return _listed(shell, args.where == "bad")
        if args.where != "all" and not args.where.lstrip("-").isdigit():
            raise TdbgError(f"steps {args.where}: write the number of a step, all, or bad")
        shell.scene.go(None if args.where == "all" else int(args.where))
        moment = shell.scene.moment
        if moment is None:
            return Result([text("Looking at all steps together.", data={"moment": None})], _menu(None))
        counts = f"{moment.tensors:,} tensors, {moment.bad:,} of them with bad values"
        return Result(
            [text((Span("Now at "), Span(moment.title, "title"), Span(f": {counts}")), data=_data(moment))],
            _menu(moment),
        )


def _menu(moment: Moment | None) -> list[Span]:
    bad = [Span("list bad tensors", "name", "lt -f has_inf_or_nan")] if moment is None or moment.bad else []
    return [Span("list_tensors", "name", "lt"), *bad, Span("steps", "name", "steps")]


def _data(moment: Moment) -> dict[str, object]:
    return {name: getattr(moment, name) for name in Moment.__slots__}


def _listed(shell: command.Context, only_bad: bool) -> Result:
    everything = shell.scene.moments()
    shown = [one for one in everything if one.bad] if only_bad else everything
    at = shell.scene.moment
    bad = sum(1 for one in everything if one.bad)
    kind = everything[0].kind if everything else "step"
    count = sum(1 for one in everything if one.number >= 0)  # the others are before the first, or outside of all
    headline = f"{count:,} {kind}{'s' * (count != 1)}, {bad:,} with bad values"
    data = {"moments": len(everything), "with_bad_values": bad}
    if not shown:
        return Result([text(headline, data=data)])
    columns = [
        Column("", ""),
        Column("", "number", is_shown=False),
        Column(kind.capitalize(), "title"),
        Column("Tensors", "tensors", right=True),
        Column("Bad", "", right=True),
        Column("", "bad", is_shown=False),
        Column("t (s)", "time", right=True, form="{:.3f}".format),
    ]

    def row(one: Moment) -> list[Cell]:
        is_here = at is not None and one.number == at.number
        count = Span(f"{one.bad:,}", "nan", f"steps {one.number}; lt -f has_inf_or_nan") if one.bad else one.bad
        title = Span(one.title, "name", f"steps {one.number}; lt")
        return [Span("▶" if is_here else "", "warning"), one.number, title, one.tensors, count, one.bad, one.time]

    top = next((n for n, one in enumerate(shown) if at is not None and one.number == at.number), 0)
    here = (Span("; looking at all of them together", "dim"),) if at is None else ()
    blocks: list[Block] = [text((Span(headline), *here)), Table(columns, Mapped(shown, row))]
    return Result(blocks, [Span("all", "name", "steps all"), Span("bad", "name", "steps bad")], top=max(0, top - 5))
