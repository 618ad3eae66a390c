"""Answers for numbers over training steps: the timeline, tensors' histories, the loss, gradients and layers."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from tdbg.model import STATISTICS
from tdbg.query.listing.layers import layers as find_layers
from tdbg.query.over_time.curves import Curve, Curves
from tdbg.query.over_time.histories import Output, histories
from tdbg.query.rules.losses import Loss
from tdbg.query.scene.cache import SceneCache
from tdbg.web.route import PROCESS, Asked, Parameter, Refused, Route
from tdbg.web.rows_and_stacks import HEALTH
from tdbg.web.schema import Schema, counts, listing, maybe, named, number, record, text, together, truth, whole
from tdbg.web.traces import ServedTrace


def timeline(asked: Asked) -> dict[str, Any]:
    trace, process = asked.trace, asked.process()
    with trace.lock:
        found = trace.timeline(process)
        parts = found.parts(asked["from"], asked["to"], asked["buckets"])
        steps = found.steps
    known = trace.peek("alerts") or []
    alerts = Counter((row["step"], row["kind"]) for row in known if row["process"] == process)
    loss = _loss_of(trace, process, parts[0].first, parts[-1].last, len(parts)) if asked["loss"] and parts else None
    return {
        "first": int(steps[0]) if len(steps) else None,
        "last": int(steps[-1]) if len(steps) else None,
        "steps": len(steps),
        "parts": [
            {
                "first": part.first,
                "last": part.last,
                "rows": part.rows,
                "bad": part.bad,
                "benign": part.benign,
                "seconds": part.seconds,
                "started": part.started,
                "alerts": _within(alerts, part.first, part.last),
            }
            for part in parts
        ],
        "loss": loss,
    }


def _within(alerts: Counter[tuple[int, str]], first: int, last: int) -> dict[str, int]:
    found: Counter[str] = Counter()
    for (step, kind), count in alerts.items():
        if first <= step <= last:
            found[kind] += count
    return dict(found)


# ---- histories


def history(asked: Asked) -> dict[str, Any]:
    """Gives the histories of outputs, of several processes at once if they are asked for."""
    wanted: dict[int, list[Output]] = {}
    for typed in asked["op"]:
        process, output = _output(asked, typed)
        wanted.setdefault(process, []).append(output)
    made = []
    for process, outputs in wanted.items():
        with asked.trace.lock:
            read = asked.trace.scene(process).read
            named = [_named(read, output) for output in outputs]
            first, last = _range(read, asked["from"], asked["to"])
        points = _points(asked.trace, process, outputs, first, last, asked["points"])
        made += [about | {"points": points[output]} for about, output in zip(named, outputs, strict=True)]
    return {"series": made}


def _points(
    trace: ServedTrace,
    process: int,
    outputs: list[Output],
    first: int,
    last: int,
    most: int,
    same: tuple[int, ...] = (),
) -> dict[Output, dict[str, Any]]:
    """Reads histories with a reader of its own: the rows of an op are spread over the whole trace."""

    def find() -> dict[Output, dict[str, Any]]:
        with trace.rows_apart() as (_, rows):
            return histories(rows, process, outputs, first, last, most, same)

    return trace.kept(("history", process, tuple(outputs), first, last, most, same), find)


def _output(asked: Asked, typed: str) -> tuple[int, Output]:
    parts = typed.split(":")
    if len(parts) != 3 or not all(part.isascii() and part.isdecimal() and len(part) < 10 for part in parts):
        raise Refused(400, "op must be written as process:op:slot", "for example op=0:76:0")
    process, op, slot = map(int, parts)
    return asked.trace.process(process), Output(op, slot)


def _named(read: SceneCache, output: Output) -> dict[str, Any]:
    at = read.ops.at.get(output.op, -1)
    if at < 0:
        raise Refused(404, f"there is no op {output.op} in this trace", "api/t/ID/tensors lists tensors with theirs")
    return {
        "process": read.process,
        "op": output.op,
        "slot": output.slot,
        "name": f"{read.ops.shown[at]}:{output.slot}",
        "type": read.ops.types[at],
    }


def _range(read: SceneCache, first: int | None, last: int | None) -> tuple[int, int]:
    steps = read.moments.rollup["step"].to_pylist()
    return min(steps, default=0) if first is None else first, max(steps, default=0) if last is None else last


def _the_loss(trace: ServedTrace, process: int) -> Loss | None:
    def find() -> Loss | None:
        with trace.rows_apart() as (apart, rows):
            return Curves(apart, process, rows=rows).the_loss()

    return trace.kept(("loss output", process), find)


def _loss_of(trace: ServedTrace, process: int, first: int, last: int, points: int) -> dict[str, Any] | None:
    found = _the_loss(trace, process)
    if found is None:
        return None
    output = Output(found.ops[0], found.slot)
    found_points = _points(trace, process, [output], first, last, points, found.ops)[output]
    return {"op": output.op, "slot": output.slot, "name": found.name, "note": found.note, "points": found_points}


def loss(asked: Asked) -> dict[str, Any]:
    trace, process = asked.trace, asked.process()
    with trace.lock:
        first, last = _range(trace.scene(process).read, asked["from"], asked["to"])
    return {"loss": _loss_of(trace, process, first, last, asked["points"])}


def gradients(asked: Asked) -> dict[str, Any]:
    trace, process = asked.trace, asked.process()
    harmless = trace.harmless(process)

    def make() -> dict[str, Any]:
        curves = Curves(trace.apart(), process, harmless=harmless)
        return {
            "steps_per_point": curves.steps_per_point,
            "layers": [_curve(curve) for curve in curves.gradient_by_layer()],
            "weights": [_curve(curve) for curve in curves.weights_by_step()],
        }

    return trace.kept(("gradients", process, harmless), make)


def _curve(curve: Curve) -> dict[str, Any]:
    return {
        "name": curve.name,
        "steps": [point.step for point in curve.points],
        "values": [_plain(point.value) for point in curve.points],
        "bad": [point.bad for point in curve.points],
    }


def _plain(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else value


def layers(asked: Asked) -> dict[str, Any]:
    trace, process = asked.trace, asked.process()
    with trace.lock:
        return {"layers": find_layers(trace.scene(process).read, trace.healths(process))}


_FROM = Parameter("from", "the first step to return", least=-1)
_TO = Parameter("to", "the last one", least=-1)
_POINTS = Parameter("points", "at most this many points; neighbouring steps share one", default=240, least=1, most=4000)
_SERIES: dict[str, Schema] = {
    **{name: listing(whole()) for name in ("first", "last", "rows", "elements", "bad")},
    **{name: listing(maybe(whole())) for name in ("zero", "nan", "inf")},
    **{name: listing(maybe(number())) for name in STATISTICS},
}
_POINTS_OF = named("Points", record(**_SERIES), "Numbers of one output over steps, a column each.")
_LOSS = maybe(
    named(
        "LossCurve",
        record(
            op=whole(),
            slot=whole(),
            name=text(),
            note=text("what this is, if that is not certain; else empty"),
            points=_POINTS_OF,
        ),
    )
)
_CURVE = named(
    "CurveOfSteps",
    record(
        name=text(),
        steps=listing(whole()),
        values=listing(maybe({"type": "number"})),
        bad=listing(whole()),
    ),
    "A norm at each step, or null where it was not finite, and how many elements were bad.",
)
_LAYER = named(
    "Layer",
    together(
        HEALTH,
        record(
            name=text(),
            ops=whole(),
            depth=whole(),
            has_inner=truth(),
            file=text("empty: it is a scope"),
            line=whole(),
        ),
    ),
)
_PART = named(
    "TimelinePart",
    record(
        first=whole(),
        last=whole(),
        rows=whole(),
        bad=whole(),
        benign=whole("how many of these were harmless, once there is a verdict"),
        seconds=maybe({"type": "number"}),
        started=maybe({"type": "number"}),
        alerts=counts(),
    ),
    "Some neighbouring steps.",
)
_OUTPUT = record(process=whole(), op=whole(), slot=whole(), name=text(), type=text(), points=_POINTS_OF)

ROUTES = (
    Route(
        "/api/t/{trace}/timeline",
        "The steps, divided into parts: rows, bad values, seconds, and alerts once they are known",
        timeline,
        named(
            "Timeline",
            record(first=maybe(whole()), last=maybe(whole()), steps=whole(), parts=listing(_PART), loss=_LOSS),
        ),
        (
            PROCESS,
            _FROM,
            _TO,
            Parameter("buckets", "at most this many parts", default=400, least=1, most=4000),
            Parameter("loss", "1: with the loss, which takes a while the first time", "truth", default=False),
        ),
    ),
    Route(
        "/api/t/{trace}/history",
        "Numbers of outputs over steps",
        history,
        named("History", record(series=listing(_OUTPUT))),
        (Parameter("op", "process:op:slot", "text", most=40, is_repeated=True), _FROM, _TO, _POINTS),
    ),
    Route(
        "/api/t/{trace}/loss",
        "The loss over steps: the value that gradients are taken of; `note` says what it is, if that is not certain",
        loss,
        named("Loss", record(loss=_LOSS)),
        (PROCESS, _FROM, _TO, _POINTS),
    ),
    Route(
        "/api/t/{trace}/gradients",
        "Norms of the gradients of all layers, and of the weights, over steps; harmless values are not counted as bad",
        gradients,
        named("Gradients", record(steps_per_point=whole(), layers=listing(_CURVE), weights=listing(_CURVE))),
        (PROCESS,),
    ),
    Route(
        "/api/t/{trace}/layers",
        "The layers of the model, each before those inside it, with their health; or its lines, if it has no scopes",
        layers,
        named("Layers", record(layers=listing(_LAYER))),
        (PROCESS,),
    ),
)
