"""Answers for the table of tensors by group, steps, runs, layers or phases, with the health of each."""

from __future__ import annotations

import csv
import io
from typing import Any

from tdbg.query.listing.groups import BY, Group, Grouped
from tdbg.query.listing.tensor_listing import Wanted
from tdbg.web.route import LIMIT, OFFSET, PROCESS, Answer, Asked, Parameter, Route
from tdbg.web.routes.tensors import WHERE, ops_of_line
from tdbg.web.rows_and_stacks import HEALTH
from tdbg.web.schema import listing, maybe, named, one_of, record, text, together, whole

_FIELDS = ("key", "label", "rows", "bad", "benign", "nan", "inf", "min", "max", "first_bad_seq")


def groups(asked: Asked) -> dict[str, Any] | Answer:
    process, trace = asked.process(), asked.trace
    with trace.lock:
        ops = ops_of_line(trace, process, asked["file"], asked["line"]) if asked["file"] else None
        wanted = Wanted(where=asked["where"], execution=asked["execution"], ops=ops)
        found = trace.groups(process).find(asked["by"], wanted)
        if asked["format"] == "csv":
            return _csv(found.page(0, len(found)), f"{trace.id}-by-{asked['by']}.csv")
        return {
            "by": asked["by"],
            "total": len(found),
            "at": found.place_of_key(asked["key"]) if asked["key"] else _place(found, asked["at"]),
            "groups": [group.as_dict() for group in found.page(asked["offset"], asked["limit"])],
        }


def _place(found: Grouped, seq: int | None) -> int | None:
    return None if seq is None else found.place_of(seq)


def _csv(found: list[Group], file: str) -> Answer:
    out = io.StringIO()
    writer = csv.DictWriter(out, _FIELDS, extrasaction="ignore")
    writer.writeheader()
    writer.writerows(group.as_dict() for group in found)
    return Answer(out.getvalue().encode(), "text/csv; charset=utf-8", file)


_GROUP = named("Group", together(HEALTH, record(key=text("a step, an execution, or a name"), label=text())))

ROUTES = (
    Route(
        "/api/t/{trace}/groups",
        "Tensors by step, run, layer or phase: how many, how many bad ones, and their range",
        groups,
        named("Groups", record(by=one_of(BY), total=whole(), at=maybe(whole()), groups=listing(_GROUP))),
        (
            PROCESS,
            Parameter("by", "what makes a group", "text", default="step", choices=BY),
            WHERE,
            Parameter("execution", "only of this execution", least=-1),
            Parameter("file", "only of ops created in this file", "text", default=""),
            Parameter("line", "and, of these, only those of this line"),
            OFFSET,
            LIMIT,
            Parameter("at", "an event; the position of its group is returned as `at`"),
            Parameter("key", "a group; its position is returned as `at`", "text", default=""),
            Parameter("format", "json or csv, which has all groups", "text", default="json", choices=("json", "csv")),
        ),
    ),
)
