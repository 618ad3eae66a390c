"""Writes the whole report of a trace as one HTML text: verdict, plots, alerts, coverage, how it was recorded."""

from __future__ import annotations

import shlex
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tdbg.model import Flag
from tdbg.query.over_time.alerts import find_alerts
from tdbg.query.over_time.curves import Curve, Curves
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.verdict import Origin, Verdict, explain
from tdbg.report import verdict_parts as parts
from tdbg.report.markup import Html, join, raw, tag
from tdbg.report.plots import plot
from tdbg.report.style import CSS

_MOST_STEPS = 40
_MOST_INPUTS = 3
# Nothing can be loaded and nothing can run, whatever a trace brought along.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def build(trace: Trace) -> str:
    """Writes the report of a trace as it is now."""
    rows = Rows(trace)
    verdict = explain(trace, rows=rows)
    programs: dict[int, Program] = {}

    def program(process: int) -> Program:
        return programs.setdefault(process, Program(trace, process))

    main = verdict.origins[0].process if verdict.origins else trace.processes[0].index
    body = [
        *_verdict(verdict, program),
        parts.alerts_part(verdict, program(main)),
        parts.harmless_part(verdict),
        _plots(Curves(trace, main, program(main), rows), verdict, main, len(trace.processes)),
        _steps(find_alerts(trace, rows), verdict),
        _coverage(verdict),
        _recording(trace),
    ]
    title = f"tdbg report: {trace.path.name}"
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=_POLICY),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("title", title),
        tag("style", raw(CSS)),
    )
    page = tag("html", head, tag("body", tag("p", title, class_="dim"), *body), lang="en")
    return f"<!DOCTYPE html>\n{page}\n"


def _verdict(verdict: Verdict, program: Any) -> Iterator[Html]:
    if not verdict.origins:
        yield parts.clean_panel(verdict)
        return
    first, *others = verdict.origins
    yield parts.origin_panel(first, program(first.process), is_first=True)
    if others:
        yield tag("h2", "Other places where bad values began")
        for origin in others:
            yield parts.origin_panel(origin, program(origin.process), is_first=False)
    if verdict.more_origins:
        yield tag("p", f"and {verdict.more_origins:,} more places", class_="dim")


# ---- plots


def _plots(curves: Curves, verdict: Verdict, process: int, processes: int) -> Html:
    origin = verdict.origins[0] if verdict.origins else None
    loss = curves.the_loss()
    wanted = _around(origin)
    found = curves.histories(wanted, loss) if wanted or loss is not None else []
    histories, losses = found[: len(wanted)], found[len(wanted) :]
    about_loss = (loss.note if loss is not None else "") or "the value that gradients are taken of"
    figures = [*_origin_plots(origin, histories), *_training_plots(curves, losses, about_loss)]
    notes = [f"process {process} of {processes}"] if processes > 1 else []
    if curves.steps_per_point > 1:
        notes.append(f"each point stands for {curves.steps_per_point:,} steps")
    return join(
        tag("h2", "Over the steps"),
        tag("p", "; ".join(notes), class_="dim") if notes else None,
        tag("div", *figures, class_="plots")
        if figures
        else tag("p", "No numbers were recorded over steps.", class_="dim"),
    )


def _training_plots(curves: Curves, losses: list[Curve], about_loss: str) -> Iterator[Html]:
    if any(_is_drawn(curve) for curve in losses):
        yield plot("Loss", losses, about_loss)
    gradients = [curve for curve in curves.gradient_by_layer() if _is_drawn(curve)]
    if gradients:
        yield plot(
            "Gradient by layer", gradients, "L2 norm of all gradient tensors of a layer, from count, mean and std"
        )
    weights = [curve for curve in curves.weights_by_step() if _is_drawn(curve)]
    if weights:
        yield plot("Weights", weights, "L2 norm of each variable as it was read, from count, mean and std")


def _around(origin: Origin | None) -> list[tuple[int, int, str]]:
    """Gives the output where bad values began and what its op read, as ``Curves.histories`` takes them."""
    if origin is None:
        return []
    facts = origin.inputs[:_MOST_INPUTS]
    # A copy that was kept as evidence has the number of the input for its slot.
    slots = [0 if fact.row.flags & Flag.EVIDENCE else fact.row.slot for fact in facts]
    own = (origin.op.number, origin.row.slot, origin.what)
    return [own, *((fact.op.number, slot, fact.op.type) for fact, slot in zip(facts, slots, strict=True))]


def _origin_plots(origin: Origin | None, histories: list[Curve]) -> Iterator[Html]:
    if origin is None:
        return
    said = "mean; shaded: from min to max of the finite elements"
    own, *inputs = histories
    yield plot(f"Where it began: {origin.what}", [own], said, band=True)
    for fact, history in zip(origin.inputs, inputs, strict=False):
        if _is_drawn(history):
            yield plot(f"Its input {fact.index}: {fact.op.type}", [history], said, band=True)


def _is_drawn(curve: Curve) -> bool:
    return any(point.value is not None or point.bad for point in curve.points)


# ---- tables


def _steps(alerts: pa.Table, verdict: Verdict) -> Html:
    counts: dict[int, Counter[str]] = defaultdict(Counter)
    for step, kind in zip(alerts["step"].to_pylist(), alerts["kind"].to_pylist(), strict=True):
        counts[step][kind] += 1
    for alert in verdict.alerts:
        counts[alert.step]["training_health"] += 1
    if not counts:
        return join(tag("h2", "Alerts by step"), tag("p", "There are none.", class_="dim"))
    kinds = sorted({kind for of_step in counts.values() for kind in of_step})
    shown = sorted(counts)[:_MOST_STEPS]
    rows = [(f"{step:,}" if step >= 0 else "–", *(_count(counts[step].get(kind)) for kind in kinds)) for step in shown]
    left = len(counts) - len(shown)
    return join(
        tag("h2", "Alerts by step"),
        tag("p", "For each tensor, function or line, the step where it began, including harmless ones.", class_="dim"),
        parts.table([("step", True), *((kind.replace("_", " "), True) for kind in kinds)], rows, is_narrow=True),
        tag("p", f"and {left:,} more steps", class_="dim") if left else None,
    )


def _count(number: int | None) -> str:
    return f"{number:,}" if number else "–"


def _coverage(verdict: Verdict) -> Html:
    coverage = verdict.coverage
    notes = [tag("li", note) for note in (*coverage.notes, *verdict.health.notes())]
    return join(
        tag("h2", "What was checked, and what was not"),
        tag("p", f"{coverage.as_text()}, recorded in mode {', '.join(coverage.modes)}."),
        tag("ul", *notes) if notes else tag("p", "As far as the trace tells, nothing was left out.", class_="dim"),
    )


def _recording(trace: Trace) -> Html:
    info, end = trace.processes[0].info, trace.processes[0].end or {}
    started = info.get("started")
    when = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(started / 1e9)) if isinstance(started, int) else "unknown"
    versions = info.get("versions") or {}
    ended = {"finished": "finished", "exception": "by an exception", "interrupted": "by Ctrl-C"}.get(
        str(end.get("how"))
    )
    facts = [
        ("command", tag("code", shlex.join(map(str, info.get("argv") or ["unknown"])))),
        ("versions", ", ".join(f"{name} {version}" for name, version in versions.items()) or "unknown"),
        (
            "host",
            f"{info.get('host', 'unknown')}, {len(trace.processes)} process{'es' if len(trace.processes) > 1 else ''}",
        ),
        ("began", when),
        ("end", ended or trace.processes[0].state),
        ("trace", tag("code", trace.path.name)),
    ]
    return join(tag("h2", "How it was recorded"), parts.definitions(facts))
