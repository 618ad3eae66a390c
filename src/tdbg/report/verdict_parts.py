"""Writes the parts of a verdict as HTML: origins, harmless places and alerts."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tdbg.model import NUMBERS, STATISTICS, Frame
from tdbg.query.fixes.trial import Trial
from tdbg.query.rules import Alert
from tdbg.query.trace.program import Program, short_path
from tdbg.query.verdict.case import InputFact
from tdbg.query.verdict.verdict import Origin, Verdict
from tdbg.report.markup import Html, join, tag

_BEFORE, _AFTER = 4, 3
_COLUMNS = ("elements", *STATISTICS, "zero", "nan", "neg_inf", "pos_inf")
_LABELS = {one.name: one.label for one in NUMBERS}
_MOST_ALERTS, _MOST_HARMLESS, _MOST_INPUTS = 50, 20, 8
_PHASE = {"backward": " in the gradient", "update": " in the update", "data": " in the data"}


def number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def table(header: Iterable[tuple[str, bool]], rows: Iterable[Iterable[Any]], is_narrow: bool = False) -> Html:
    """Writes a table. ``header`` gives names, and whether their columns hold numbers."""
    columns = list(header)
    head = [tag("th", name, class_="number" if right else None) for name, right in columns]
    body = [
        tag(
            "tr",
            *(
                tag("td", cell, class_="number" if right else None)
                for cell, (_, right) in zip(row, columns, strict=True)
            ),
        )
        for row in rows
    ]
    content = tag("table", tag("thead", tag("tr", *head)), tag("tbody", *body))
    return tag("div", content, class_="scroll narrow" if is_narrow else "scroll")


def place(frame: Frame | None) -> str:
    return f"{short_path(frame.file)}:{frame.line}" if frame else "no line of the program"


def headline(origin: Origin) -> str:
    row = origin.row
    loop = f", iteration {row.iteration}" if row.iteration >= 0 else ""
    phase = ", hidden from the loss but not from the gradient" if origin.is_hidden else _PHASE.get(origin.kind, "")
    return f"{origin.what} → {row.bad_text()}{phase}, at {origin.when}{loop}"


def clean_panel(verdict: Verdict) -> Html:
    """Says what is so where no bad value began: that all is well, that training is not healthy, or that nobody
    looked."""
    coverage = verdict.coverage
    if coverage.blind:
        return _panel("verdict", tag("h1", coverage.blind))
    if verdict.alerts:
        said = f"No bad values in {coverage.as_text()}. But the numbers show the following."
        count = f"{len(verdict.alerts)} alert{'s' if len(verdict.alerts) > 1 else ''}"
        return _panel(
            "verdict warned",
            tag("h1", f"Training is not healthy: {count}", class_="warn"),
            tag("p", said, class_="dim"),
        )
    said = "Every recorded tensor was checked for NaN and infinity"
    said += "; harmless ones, such as a mask, are listed below." if verdict.benign else "."
    if coverage.is_partial or coverage.notes:
        said += " Not everything was recorded; the end of this report says what is missing."
    return _panel("verdict clean", tag("h1", f"No bad values in {coverage.as_text()}"), tag("p", said, class_="dim"))


def _panel(kind: str, *content: Any) -> Html:
    return tag("section", *content, class_=f"panel {kind}")


def origin_panel(origin: Origin, program: Program, is_first: bool) -> Html:
    cause, frame = origin.cause, origin.frame
    name = tag("code", cause.name) if cause.name != "unknown" else None
    where = tag("p", tag("code", place(frame)), f" in {frame.function}" if frame and frame.function else None)
    facts: list[tuple[str, Any]] = [("cause", tag("span", cause.reason, " " if name else None, name))]
    if cause.evidence:
        facts.append(("evidence", join(*(tag("div", sentence) for sentence in cause.evidence))))
    if origin.reach.as_text():
        facts.append(("reached", origin.reach.as_text()))
    facts.append(("op", f"{origin.op.type} “{origin.op.name}”, output {origin.row.slot}, {origin.row.label}"))
    facts.append(("event", f"#{origin.row.seq:,} of process {origin.process}"))
    return _panel(
        "verdict",
        tag("p", "first bad value" if is_first else "and, separately, a bad value", class_="dim"),
        tag("h1" if is_first else "h3", headline(origin), class_="bad"),
        where,
        _source(frame, program),
        definitions(facts),
        _numbers(origin),
        _fix(origin, program),
    )


def definitions(facts: Iterable[tuple[str, Any]]) -> Html:
    """Writes names and what is said of them, side by side."""
    return tag("dl", *(join(tag("dt", label), tag("dd", content)) for label, content in facts))


def _source(frame: Frame | None, program: Program) -> Html | None:
    if frame is None:
        return None
    lines = program.lines_around(frame, _BEFORE, _AFTER)
    marked = [
        tag("span", tag("span", f"{at:>5}", class_="n"), line or " ", class_="here" if at == frame.line else None)
        for at, line in lines
    ]
    return tag("pre", *marked) if lines else tag("p", "The source of this file was not kept.", class_="dim")


def _numbers(origin: Origin) -> Html:
    header = [("", False), ("from", False)]
    header += [(_LABELS[name], True) for name in _COLUMNS]
    rows = [("output", origin.what, *_row(origin.row))]
    rows += [(f"input {fact.index}", _made_by(fact), *_row(fact.row)) for fact in origin.inputs[:_MOST_INPUTS]]
    return table(header, rows)


def _made_by(fact: InputFact) -> str:
    made = "given" if fact.is_given else fact.op.type
    return f"{made}, {place(fact.frame)}" if fact.frame else made


def _row(row: Any) -> list[str]:
    return [number(getattr(row, name)) for name in _COLUMNS]


def _fix(origin: Origin, program: Program) -> Html | None:
    fix = origin.cause.fix
    if fix is None:
        return None
    parts = [tag("h3", "Fix"), tag("p", fix.text)]
    if fix.code and origin.frame is not None:
        old = [tag("span", f"- {line}", class_="del") for line in program.statement_text(origin.frame).splitlines()]
        parts.append(tag("pre", *old, *(tag("span", f"+ {line}", class_="add") for line in fix.code.splitlines())))
    if fix.trial is not None:
        parts.append(_trial(fix.trial))
    else:
        parts.append(tag("p", f"Not executed: {fix.not_executed}"))
    return join(*parts)


def _trial(trial: Trial) -> Html:
    return join(
        tag("p", f"Tried on {trial.on}:"),
        table(
            [("", False), ("result", False)],
            [("as it is", trial.before), ("with the fix", trial.after)],
            is_narrow=True,
        ),
    )


def harmless_part(verdict: Verdict) -> Html | None:
    if not verdict.benign:
        return None
    rows = [(place(one.frame), one.text, number(one.row.step)) for one in verdict.benign[:_MOST_HARMLESS]]
    more = len(verdict.benign) - len(rows)
    header = [("line", False), ("what", False), ("first step", True)]
    return join(
        tag("h2", "Bad values that did no harm"),
        table(header, rows),
        tag("p", f"and {more:,} more places", class_="dim") if more else None,
    )


def alerts_part(verdict: Verdict, program: Program) -> Html | None:
    """Lists what was not healthy, each with its line, its numbers, why it matters and what to do."""
    if not verdict.alerts:
        return None
    shown, more = verdict.alerts[:_MOST_ALERTS], len(verdict.alerts) - _MOST_ALERTS
    heading = tag("h2", "Before that, training was not healthy") if verdict.origins else None
    return join(
        heading,
        *(_alert(alert, program) for alert in shown),
        tag("p", f"and {more:,} more alerts", class_="dim") if more > 0 else None,
    )


def _alert(alert: Alert, program: Program) -> Html:
    frame = Frame(alert.file, alert.line, "", True) if alert.file and alert.line is not None else None
    facts: list[tuple[str, Any]] = [("rule", tag("code", alert.rule)), ("from step", f"{alert.step:,}")]
    if alert.evidence:
        facts.append(("evidence", join(*(tag("div", sentence) for sentence in alert.evidence))))
    facts += [("why it matters", alert.why), ("what to do", alert.fix)]
    return _panel(
        "verdict warned",
        tag("h3", alert.text, class_="warn"),
        tag("p", tag("code", place(frame))),
        _source(frame, program),
        definitions(facts),
    )
