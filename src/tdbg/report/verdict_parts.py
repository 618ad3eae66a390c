"""A verdict in; its origins, harmless places and alerts as HTML out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tdbg.model import Frame
from tdbg.query.case import InputFact
from tdbg.query.program import Program, short_path
from tdbg.query.verdict import Origin, Verdict
from tdbg.report.markup import Html, join, tag

_BEFORE, _AFTER = 4, 3
_PHASE = {"backward": " in the gradient", "update": " in the update", "data": " in the data"}


def number(value: Any) -> str:
    if value is None:
        return "–"
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"


def table(header: Iterable[tuple[str, bool]], rows: Iterable[Iterable[Any]], is_narrow: bool = False) -> Html:
    """``header``: names, and whether their columns hold numbers."""
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
    return f"{origin.what} → {row.bad_text()}{_PHASE.get(origin.kind, '')}, at step {row.step:,}{loop}"


def clean_panel(verdict: Verdict) -> Html:
    blind = verdict.coverage.blind
    said = blind or f"No bad values in {verdict.coverage.as_text()}"
    return tag(
        "section",
        tag("h1", said),
        None if blind else tag("p", "Every recorded tensor was looked at for NaN and infinity.", class_="dim"),
        class_="panel verdict" if blind else "panel verdict clean",
    )


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
    return tag(
        "section",
        tag("p", "first bad value" if is_first else "and, on its own, bad value", class_="dim"),
        tag("h1" if is_first else "h3", headline(origin), class_="bad"),
        where,
        _source(origin, program),
        tag("dl", *(join(tag("dt", label), tag("dd", content)) for label, content in facts)),
        _numbers(origin),
        _fix(origin, program),
        class_="panel verdict",
    )


def _source(origin: Origin, program: Program) -> Html | None:
    if origin.frame is None:
        return None
    lines = program.lines_around(origin.frame, _BEFORE, _AFTER)
    marked = [
        tag(
            "span", tag("span", f"{at:>5}", class_="n"), line or " ", class_="here" if at == origin.frame.line else None
        )
        for at, line in lines
    ]
    return tag("pre", *marked) if lines else tag("p", "The source of this file was not kept.", class_="dim")


def _numbers(origin: Origin) -> Html:
    header = [("", False), ("from", False)]
    header += [(name, True) for name in ("elements", "min", "max", "mean", "std", "zeros", "NaN", "-inf", "+inf")]
    rows = [("output", origin.what, *_row(origin.row))]
    rows += [(f"input {fact.index}", _made_by(fact), *_row(fact.row)) for fact in origin.inputs[:8]]
    return table(header, rows)


def _made_by(fact: InputFact) -> str:
    made = "given" if fact.is_given else fact.op.type
    return f"{made}, {place(fact.frame)}" if fact.frame else made


def _row(row: Any) -> list[str]:
    names = ("elements", "min", "max", "mean", "std", "zero", "nan", "neg_inf", "pos_inf")
    return [number(getattr(row, name)) for name in names]


def _fix(origin: Origin, program: Program) -> Html | None:
    fix = origin.cause.fix
    if fix is None:
        return None
    parts = [tag("h3", "Fix"), tag("p", fix.text)]
    if fix.code and origin.frame is not None:
        old = [tag("span", f"- {line}", class_="del") for line in program.statement_text(origin.frame).splitlines()]
        parts.append(tag("pre", *old, *(tag("span", f"+ {line}", class_="add") for line in fix.code.splitlines())))
    if fix.trial is not None:
        parts.append(tag("p", f"Tried on {fix.trial.on}: {fix.trial.before} → {fix.trial.after}"))
    else:
        parts.append(tag("p", f"Not executed: {fix.not_executed}"))
    return join(*parts)


def harmless_part(verdict: Verdict) -> Html | None:
    if not verdict.benign:
        return None
    rows = [(one.reason, place(one.frame), one.text, number(one.row.step)) for one in verdict.benign[:20]]
    more = len(verdict.benign) - len(rows)
    header = [("reason", False), ("line", False), ("what", False), ("first step", True)]
    return join(
        tag("h2", "Bad values that did no harm"),
        table(header, rows),
        tag("p", f"and {more:,} more places", class_="dim") if more else None,
    )


def alerts_part(verdict: Verdict) -> Html | None:
    """Alerts of training health, where a verdict has them."""
    alerts = list(getattr(verdict, "alerts", ()))
    if not alerts:
        return None
    return join(tag("h2", "Alerts"), tag("ul", *(tag("li", _alert(alert)) for alert in alerts[:50])))


def _alert(alert: Any) -> str:
    said = getattr(alert, "text", None) or str(alert)
    frame = getattr(alert, "frame", None)
    return f"{place(frame)}: {said}" if frame is not None else said
