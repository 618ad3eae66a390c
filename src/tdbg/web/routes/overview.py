"""Answers what is served, what a trace is, and what of it cannot be read."""

from __future__ import annotations

from typing import Any

from tdbg.query.trace.overview import notes, overview
from tdbg.query.trace.trace import Trace
from tdbg.web.route import PROCESS, Asked, Route
from tdbg.web.schema import by_name, listing, maybe, named, one_of, record, text, truth, whole
from tdbg.web.traces import ServedTrace, reason


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


_TRACE = named(
    "TraceEntry",
    record(
        id=text("its short name, which is part of the other addresses"),
        name=text("of its folder"),
        error=text("why it cannot be read; empty when it can"),
        is_starting=truth("its program has not recorded anything yet"),
        live=truth("whether its program may still be writing"),
        argv=listing(text()),
        mode=text(),
        started=maybe(whole("ns since the epoch")),
        processes=whole(),
        version=whole("grows when the trace does"),
    ),
)
_NOTE = named("Note", record(kind=text(), text=text(), count=whole()))
_PROCESS = named(
    "ProcessEntry",
    record(
        index=whole(),
        state=text(),
        pid=maybe(whole()),
        host=maybe(text()),
        rank=maybe(whole()),
        mode=maybe(text()),
        task=maybe(text("of a cluster, such as worker:1")),
        versions=maybe(by_name(text())),
        argv=listing(text()),
        started=maybe(whole("ns since the epoch")),
        ended=maybe(whole("ns since the epoch")),
        how=maybe(text("how it ended")),
        status=maybe(whole()),
        dropped=whole("tensors"),
    ),
)
_OVERVIEW = named(
    "Overview",
    record(
        id=text(),
        version=whole(),
        name=text(),
        argv=listing(text()),
        mode=text(),
        live=truth(),
        process=whole("the process that the moments are of"),
        processes=listing(_PROCESS),
        moments=record(
            kind=one_of(("step", "run")),
            first=maybe(whole()),
            last=maybe(whole()),
            count=whole(),
            runs=listing(record(execution=whole(), run=whole(), count=whole("how many there are in a row"))),
        ),
        rows=whole("tensors of all processes"),
        executions=whole(),
        bad=whole("tensors that hold NaN or infinity"),
        first_bad_seq=whole("-1: there is none"),
        size=whole("bytes on disk"),
        notes=listing(_NOTE),
    ),
)

ROUTES = (
    Route("/api/traces", "The traces being served", traces, listing(_TRACE)),
    Route("/api/t/{trace}/overview", "The facts about a trace", about, _OVERVIEW, (PROCESS,)),
    Route(
        "/api/t/{trace}/problems",
        "What in it cannot be read, and what was left out",
        problems,
        record(problems=listing(text()), notes=listing(_NOTE)),
    ),
)
