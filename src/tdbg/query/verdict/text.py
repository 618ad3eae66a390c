"""Tells a verdict to people: in at most eight lines after a run, as the whole story for ``tdbg why``."""

from __future__ import annotations

from tdbg.query.causes import Fix
from tdbg.query.rules import Alert
from tdbg.query.trace.program import joined, short_path
from tdbg.query.verdict.verdict import Benign, Origin, Verdict

_MOST = 7  # lines of the short form; an eighth says what to type next
_PHASE = {"backward": " in the gradient", "update": " in the update"}


def short_lines(verdict: Verdict, width: int = 100) -> list[str]:
    """Tells the first origin, or the first alerts where there is none, and how much else there is."""
    if not verdict.origins:
        if verdict.alerts:
            return _short_alerts(verdict, width)
        return [*_clean(verdict), *(f"    note: {text}" for text in verdict.coverage.notes[:3])]
    first = verdict.origins[0]
    lines = [f"tdbg: {_headline(first, _first_name(verdict))}", *_place(first, width)]
    if first.cause.name != "unknown" or first.cause.reason.startswith("began inside"):
        lines.append(_cut(f"    {first.cause.reason}", width))
        lines += [] if first.inputs else [_cut(f"    {text}", width) for text in first.cause.evidence[:1]]
        lines += [_cut(f"    {text}", width) for text in _short(first.cause.fix)] if first.cause.fix else []
    lines += [_cut(f"    {fact.as_text()}", width) for fact in first.inputs[:2]]
    if first.reach.as_text():
        lines.append(_cut(f"    reached: {first.reach.as_text()}", width))
    notes = _others(verdict)
    if verdict.alerts:
        rules = joined(list(dict.fromkeys(alert.rule for alert in verdict.alerts)))
        notes.append(f"training was already unhealthy before that ({rules}): tdbg why")
    notes += verdict.coverage.notes
    return _with_note(lines, notes, width)


def _others(verdict: Verdict) -> list[str]:
    others = len(verdict.origins) - 1 + verdict.more_origins
    if not others:
        return []
    second = verdict.origins[1]
    where = f" ({short_path(second.frame.file)}:{second.frame.line})" if second.frame and others == 1 else ""
    return [f"{others} more place{'s' if others > 1 else ''} where bad values began{where}: tdbg why"]


def full_lines(verdict: Verdict, width: int = 100) -> list[str]:
    """Tells every origin with its evidence and fix, what did no harm, and what was not looked at."""
    lines: list[str] = []
    for number, origin in enumerate(verdict.origins, 1):
        name = _first_name(verdict) if number == 1 else "and, separately, a bad value"
        lines += [f"tdbg: {_headline(origin, name)}", *_place(origin, width), *_story(origin), ""]
    if verdict.more_origins:
        lines += [f"    and {verdict.more_origins} more places", ""]
    for number, alert in enumerate(verdict.alerts):
        lines += [*_alert(alert, width, "and " if number or verdict.origins else ""), *_reasons(alert), ""]
    if not verdict.origins and not verdict.alerts:
        lines += _clean(verdict)
    harmless = [
        one for one in verdict.benign if verdict.origins or verdict.alerts or one not in verdict.infinite_results
    ]
    lines += [f"    no harm: {_benign(one)}" for one in harmless[:8]]
    if len(harmless) > 8:
        lines.append(f"    no harm: {len(harmless) - 8} more places")
    lines += [f"    note: {text}" for text in verdict.coverage.notes]
    lines += [f"    note: {text}" for text in verdict.health.notes()]
    while lines and not lines[-1]:
        lines.pop()
    return lines


def _first_name(verdict: Verdict) -> str:
    return "first bad value" if verdict.is_first_earliest else "first bad value that reached the training"


def _with_note(lines: list[str], notes: list[str], width: int) -> list[str]:
    """Says in any case what was not looked at; evidence makes room for it."""
    return [*lines[: _MOST - 1], _cut(f"    note: {joined(notes)}", width)] if notes else lines[:_MOST]


def _clean(verdict: Verdict) -> list[str]:
    if verdict.coverage.blind:
        return [f"tdbg: {verdict.coverage.blind}"]
    results = verdict.infinite_results
    if not results:
        return [f"tdbg: no bad values found in {verdict.coverage.as_text()}"]
    lines = [f"tdbg: no NaN found in {verdict.coverage.as_text()}, but infinity in a result that no op read"]
    return lines + [f" -> {_line_of(one)}{one.op.type} → {one.row.bad_text()}" for one in results[:3]]


def _short_alerts(verdict: Verdict, width: int) -> list[str]:
    first, *others = verdict.alerts
    lines = [*_alert(first, width), _cut(f"    why: {first.why}", width), _cut(f"    fix: {first.fix}", width)]
    for other in others[:2]:
        lines.append(_cut(f"    and {_where(other)}{other.text}  [{other.rule}]", width))
    notes = [f"{len(others) - 2} more: tdbg why"] if len(others) > 2 else []
    notes += verdict.coverage.notes
    return _with_note(lines, notes, width)


def _alert(alert: Alert, width: int, name: str = "") -> list[str]:
    lines = [f"tdbg: {name}no bad values, but " if not name else f"tdbg: {name}"]
    lines[0] += f"{alert.text}  [{alert.rule}]"
    if alert.file:
        lines.append(_cut(f" -> {_where(alert)}{alert.source}".rstrip(), width))
    return lines


def _where(alert: Alert) -> str:
    return f"{short_path(alert.file)}:{alert.line}  " if alert.file else ""


def _reasons(alert: Alert) -> list[str]:
    return [f"    {text}" for text in alert.evidence] + [f"    why: {alert.why}", f"    fix: {alert.fix}"]


def _headline(origin: Origin, name: str) -> str:
    row = origin.row
    loop = f", iteration {row.iteration}" if row.iteration >= 0 else ""
    where = f"{origin.when}{loop}, event #{row.seq:,}{f' of {origin.task}' if origin.task else ''}"
    phase = _PHASE.get(origin.kind, "")
    if origin.is_hidden:
        phase = ", hidden from the loss but not from the gradient"
    return f"{name} at {where}: {origin.what} → {row.bad_text()}{phase}"


def _short(fix: Fix) -> list[str]:
    """Gives the changed line itself where there is one, behind what is better than it."""
    is_line = bool(fix.code) and "\n" not in fix.code
    text = fix.code.strip() if is_line else fix.text
    not_executed = ", not executed" if fix.not_executed else ""
    if not fix.better:
        return [f"fix{not_executed}: {text}"]
    return [f"fix, not executed: {fix.better}", *([f"or{not_executed}: {text}"] if is_line else [])]


def _place(origin: Origin, width: int) -> list[str]:
    if origin.frame is None:
        return (
            [_cut(f" -> op {origin.op.name} (the line that created it is unknown)", width)]
            if origin.op.graph >= 0
            else []
        )
    text = f"  {origin.source}" if origin.source else ""
    return [_cut(f" -> {short_path(origin.frame.file)}:{origin.frame.line}{text}", width)]


def _story(origin: Origin) -> list[str]:
    cause = origin.cause
    lines = [f"    {cause.reason}" + (f"  [{cause.name}]" if cause.name != "unknown" else "")]
    lines += [f"    {text}" for text in cause.evidence]
    lines += [f"    {fact.as_text()}" for fact in origin.inputs[:4]]
    if cause.fix is not None:
        lines.append(f"    fix: {cause.fix.text}")
        lines += [f"    +    {line}" for line in cause.fix.code.splitlines()]
        if cause.fix.trial is not None:
            trial = cause.fix.trial
            lines.append(f"    tried on {trial.on}: {trial.before} → {trial.after}")
        else:
            lines.append(f"    not executed: {cause.fix.not_executed}")
    if origin.reach.as_text():
        lines.append(f"    reached: {origin.reach.as_text()}")
    return lines


def _benign(one: Benign) -> str:
    return f"{_line_of(one)}{one.text}"


def _line_of(one: Benign) -> str:
    return f"{short_path(one.frame.file)}:{one.frame.line}  " if one.frame else ""


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
