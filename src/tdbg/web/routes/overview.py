"""Answers what is served, and for one trace its facts, its verdict and its alerts."""

from __future__ import annotations

from typing import Any

from tdbg.query.over_time.alerts import KINDS, find_alerts
from tdbg.query.trace.overview import notes, overview
from tdbg.query.trace.trace import Trace
from tdbg.query.verdict.links import links
from tdbg.query.verdict.text import full_lines
from tdbg.query.verdict.verdict import Verdict, explain
from tdbg.web.route import (
    ANYTHING,
    LIMIT,
    OFFSET,
    PLACE,
    PROCESS,
    Asked,
    Parameter,
    Route,
    counts,
    listing,
    maybe,
    record,
    text,
    truth,
    whole,
)
from tdbg.web.traces import ServedTrace, reason

_WIDE = 10_000  # lines are not cut
_FROM_BENIGN = "came from bad values that did no harm"


def traces(asked: Asked) -> list[dict[str, Any]]:
    asked.traces.look()
    return [_summary(trace) for trace in asked.traces.all()]


def _summary(trace: ServedTrace) -> dict[str, Any]:
    wrong = reason(trace)
    is_starting = not wrong and trace.is_starting
    said: dict[str, Any] = {
        "id": trace.id,
        "name": trace.path.name,
        "error": wrong.replace(f"{trace.path.parent}/", ""),
        "is_starting": is_starting,
    }
    if wrong or is_starting:
        return said | {"live": False, "argv": [], "mode": "", "started": None, "processes": 0, "version": 0}
    trace.refresh()
    with trace.lock:
        processes = trace.open().processes
        info = processes[0].info
        return said | {
            "live": trace.is_live,
            "argv": [str(word) for word in info.get("argv") or []],
            "mode": str(info.get("mode", "")),
            "started": info.get("started"),
            "processes": len(processes),
            "version": trace.version,
        }


def about(asked: Asked) -> dict[str, Any]:
    trace, process = asked.trace, asked.process()

    def make() -> dict[str, Any]:
        with trace.lock:
            return {"id": trace.id, "version": trace.version, **overview(trace.open(), trace.scene(process).read)}

    return trace.kept(("overview", process), make)


def problems(asked: Asked) -> dict[str, Any]:
    """Looks for damage, apart from the overview: to look at all files anew takes a while."""
    trace = asked.trace
    return trace.kept("problems", lambda: {"problems": Trace.open(trace.path).problems, "notes": notes(trace.apart())})


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


_TRACE = {
    "id": text("its short name, which is part of the other addresses"),
    "name": text("of its folder"),
    "error": text("why it cannot be read; empty when it can"),
    "is_starting": truth("its program has not recorded anything yet"),
    "live": truth("whether its program may still be writing"),
    "argv": listing(text()),
    "mode": text(),
    "started": maybe(whole("ns since the epoch")),
    "processes": whole(),
    "version": whole("grows when the trace does"),
}
_LINK = {
    "process": whole(), "seq": whole(), "op": whole(), "slot": whole(), "graph": whole(), "step": whole(),
    "execution": whole(), **PLACE,
    "is_hidden": truth("an op of the forward pass whose trouble shows only in the gradient"),
    "inputs": listing(record(index=whole(), op=whole(), seq=maybe(whole()), text=text(), **PLACE)),
    "reached": record(text=text(), tensors=text("a filter"), loss=maybe(text()), gradients=maybe(text()),
                      weights=maybe(text())),
}  # fmt: skip
_ALERT = {
    "kind": {"enum": list(KINDS)}, "process": whole(), "step": whole(), "seq": whole(), "time": whole(), "op": whole(),
    "graph": whole(), "execution": whole(), "file": text(), "line": whole(), "text": text(),
    "benign": maybe(text("why it did no harm")),
}  # fmt: skip
_NOTE = record(kind=text(), text=text(), count=whole())
_OVERVIEW = {
    "id": text(),
    "version": whole(),
    "name": text(),
    "argv": listing(text()),
    "mode": text(),
    "live": truth(),
    "process": whole("the process that the moments are of"),
    "processes": listing(
        record(index=whole(), state=text(), task=maybe(text()), argv=listing(text()), dropped=whole())
    ),
    "moments": record(
        kind={"enum": ["step", "run"]},
        first=maybe(whole()),
        last=maybe(whole()),
        count=whole(),
        runs=listing(record(execution=whole(), run=whole(), count=whole("how many there are in a row"))),
    ),
    "rows": whole("tensors of all processes"),
    "executions": whole(),
    "bad": whole("tensors that hold NaN or infinity"),
    "first_bad_seq": whole("-1: there is none"),
    "size": whole("bytes on disk"),
    "notes": listing(_NOTE),
}

ROUTES = (
    Route("/api/traces", "The traces being served", traces, listing(record(**_TRACE))),
    Route("/api/t/{trace}/overview", "The facts about a trace", about, record(**_OVERVIEW), (PROCESS,)),
    Route(
        "/api/t/{trace}/problems",
        "What in it cannot be read, and what was left out",
        problems,
        record(problems=listing(text()), notes=listing(_NOTE)),
    ),
    Route(
        "/api/t/{trace}/verdict",
        "Where bad values began, why, and how far they spread",
        verdict,
        record(
            trace=text(),
            verdict={"enum": ["bad_values", "unhealthy", "unknown", "clean"]},
            origins=listing(ANYTHING),
            more_origins=whole(),
            benign=listing(ANYTHING),
            alerts=listing(ANYTHING),
            rules_asked=listing(text()),
            rules_not_asked=ANYTHING,
            coverage=record(tensors=whole(), steps=whole(), modes=listing(text()), notes=listing(text())),
            lines=listing(text()),
            links=listing(record(**_LINK)),
            harmless=listing(record(process=whole(), ops=listing(whole("whose bad values did no harm")))),
        ),
    ),
    Route(
        "/api/t/{trace}/alerts",
        "Bad values, functions traced again, changed shapes; harmless ones are marked",
        alerts,
        record(
            total=whole(),
            counts=counts(),
            is_judged=truth("False: before the verdict none is benign"),
            rows=listing(record(**_ALERT)),
        ),
        (
            Parameter("kind", "only these", "text", choices=(*KINDS, "benign")),
            Parameter("process", "only of this process", most=1 << 20),
            OFFSET,
            LIMIT,
        ),
    ),
)
