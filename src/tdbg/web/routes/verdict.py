"""Answers where bad values began and why, and lists what else is worth a look: the verdict and the alerts."""

from __future__ import annotations

from typing import Any

from tdbg.query.over_time.alerts import KINDS, find_alerts
from tdbg.query.verdict.links import links
from tdbg.query.verdict.text import full_lines
from tdbg.query.verdict.verdict import Verdict, explain
from tdbg.web.route import LIMIT, OFFSET, Asked, Parameter, Route
from tdbg.web.rows_and_stacks import NUMBERS_OF_TENSOR
from tdbg.web.schema import PLACE, by_name, counts, listing, maybe, named, one_of, record, text, together, truth, whole
from tdbg.web.traces import ServedTrace

_WIDE = 10_000  # lines are not cut
_FROM_BENIGN = "came from bad values that did no harm"


def verdict_of(trace: ServedTrace) -> Verdict:
    return trace.kept("verdict", lambda: explain(trace.apart()))


def verdict(asked: Asked) -> dict[str, Any]:
    found = verdict_of(asked.trace)
    harmless = [{"process": process, "ops": sorted(ops)} for process, ops in found.harmless.items()]
    return found.as_dict() | {
        "trace": asked.trace.id,
        "lines": full_lines(found, _WIDE),
        "links": links(found),
        "harmless": harmless,
    }


def alerts_of(trace: ServedTrace) -> list[dict[str, Any]]:
    """Finds all alerts of a trace, in the order of time."""
    return trace.kept("alerts", lambda: find_alerts(trace.apart()).to_pylist())


def _why_benign(said: Verdict | None, row: dict[str, Any]) -> str | None:
    """Says why an alert of bad values stands for no harm; None: it does harm, or there is no verdict yet."""
    if said is None or row["kind"] != "bad_values":
        return None
    for one in said.benign:
        if (one.process, one.row.seq) == (row["process"], row["seq"]):
            return one.text
    return _FROM_BENIGN if row["op"] in said.harmless.get(row["process"], ()) else None


def alerts(asked: Asked) -> dict[str, Any]:
    said: Verdict | None = asked.trace.peek("verdict")
    rows = [row | {"benign": _why_benign(said, row)} for row in alerts_of(asked.trace)]
    counted = {kind: sum(row["kind"] == kind and row["benign"] is None for row in rows) for kind in KINDS}
    counted["benign"] = sum(row["benign"] is not None for row in rows)
    kind, process = asked["kind"], asked["process"]
    rows = [row for row in rows if process is None or row["process"] == process]
    if kind == "benign":
        rows = [row for row in rows if row["benign"] is not None]
    elif kind is not None:
        rows = [row for row in rows if row["kind"] == kind and row["benign"] is None]
    first = asked["offset"]
    return {
        "total": len(rows),
        "counts": counted,
        "is_judged": said is not None,
        "rows": rows[first : first + asked["limit"]],
    }


_TRIAL = record(before=text(), after=text(), on=text("what it was tried on"))
_FIX = named(
    "Fix",
    record(
        text=text(),
        code=text("the user's statement with the change made; empty where it cannot be written"),
        trial=maybe(_TRIAL),
        not_executed=maybe(text("why there is no trial")),
    ),
)
_REACH = record(
    tensors=whole(),
    loss=truth(),
    gradients=whole(),
    weights=whole(),
    all_weights=whole(),
    state=whole("variables that are not trained"),
    all_state=whole(),
    is_trained=truth("whether weights and state could be told apart"),
    last_step=whole(),
    order=listing(text()),
)
_INPUT = together(NUMBERS_OF_TENSOR, record(index=whole(), op_type=text(), **PLACE))
_ORIGIN = named(
    "Origin",
    record(
        kind=one_of(("forward", "backward", "update", "data")),
        **PLACE,
        function=maybe(text()),
        source=maybe(text()),
        op_type=text(),
        op_name=text(),
        slot=whole(),
        step=whole(),
        run=maybe(whole("of a Session")),
        iteration=maybe(whole()),
        process=whole(),
        task=maybe(text()),
        seq=whole(),
        dtype=text(),
        numbers=NUMBERS_OF_TENSOR,
        cause=text("its name"),
        reason=text(),
        evidence=listing(text()),
        fix=maybe(_FIX),
        inputs=listing(_INPUT),
        reached=_REACH,
    ),
    "A place where bad values began.",
)
_LINKS = named(
    "OriginLinks",
    record(
        process=whole(),
        seq=whole(),
        op=whole(),
        slot=whole(),
        graph=whole(),
        step=whole(),
        execution=whole(),
        **PLACE,
        is_hidden=truth("an op of the forward pass whose trouble shows only in the gradient"),
        inputs=listing(record(index=whole(), op=whole(), seq=maybe(whole()), text=text(), **PLACE)),
        reached=record(
            text=text(),
            tensors=text("a filter"),
            loss=maybe(text()),
            gradients=maybe(text()),
            weights=maybe(text()),
        ),
    ),
    "Where the words of an origin lead.",
)
_BENIGN = named(
    "Benign",
    record(reason=text(), **PLACE, op_type=text(), step=whole(), process=whole(), seq=whole(), text=text()),
    "Bad values that did no harm, at one place.",
)
_HEALTH_ALERT = named(
    "HealthAlert",
    record(
        rule=text(),
        **PLACE,
        step=whole(),
        text=text(),
        why=text(),
        evidence=listing(text()),
        fix=text(),
        source=text(),
    ),
)
_COVERAGE = record(
    tensors=whole(),
    steps=whole(),
    modes=listing(text()),
    blind=maybe(text("why nothing can be said")),
    notes=listing(text()),
)
_VERDICT = named(
    "Verdict",
    record(
        trace=text(),
        verdict=one_of(("bad_values", "unhealthy", "unknown", "clean")),
        origins=listing(_ORIGIN),
        more_origins=whole(),
        benign=listing(_BENIGN),
        alerts=listing(_HEALTH_ALERT),
        rules_asked=listing(text()),
        rules_not_asked=by_name(text(), "by rule, why"),
        coverage=_COVERAGE,
        lines=listing(text()),
        links=listing(_LINKS),
        harmless=listing(record(process=whole(), ops=listing(whole("whose bad values did no harm")))),
    ),
)
_ALERT = named(
    "AlertRow",
    record(
        kind=one_of(KINDS),
        process=whole(),
        step=whole(),
        seq=whole(),
        time=whole(),
        op=whole(),
        graph=whole(),
        execution=whole(),
        file=text(),
        line=whole(),
        text=text(),
        benign=maybe(text("why it did no harm")),
    ),
)
_ALERTS = named(
    "Alerts",
    record(
        total=whole(),
        counts=counts(),
        is_judged=truth("false: before the verdict none is benign"),
        rows=listing(_ALERT),
    ),
)

ROUTES = (
    Route(
        "/api/t/{trace}/verdict",
        "Where bad values began, why, and how far they spread",
        verdict,
        _VERDICT,
    ),
    Route(
        "/api/t/{trace}/alerts",
        "Bad values, functions traced again, changed shapes; harmless ones are marked",
        alerts,
        _ALERTS,
        (
            Parameter("kind", "only these", "text", choices=(*KINDS, "benign")),
            Parameter("process", "only of this process", most=1 << 20),
            OFFSET,
            LIMIT,
        ),
    ),
)
