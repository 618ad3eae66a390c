"""Tensors: listings by page as JSON or as columns; one with its numbers, its stack, where it came from and went."""

from __future__ import annotations

from typing import Any

from tdbg.query.tensor_listing import SORT_KEYS, Wanted
from tdbg.query.tensor_page import tensor_page
from tdbg.web.columns import column_page
from tdbg.web.route import LIMIT, OFFSET, PROCESS, Answer, Asked, Parameter, Route, listing, maybe, record, whole
from tdbg.web.shown import TENSOR


def tensors(asked: Asked) -> dict[str, Any] | Answer:
    process = asked.process()
    names = ("where", "step", "execution", "graph", "op", "sort")
    wanted = Wanted(**{name: asked[name] for name in names}, descending=asked["desc"])
    with asked.trace.lock:
        listings = asked.trace.listings(process)
        found = listings.find(wanted)
        header: dict[str, Any] = {"total": len(found), "offset": asked["offset"], "at": None}
        if asked["at"] is not None:
            header["at"] = found.place_of(asked["at"])
        if asked["map"]:
            header["map"] = found.bad_places(asked["map"], listings.bad)
        positions = found.positions(asked["offset"], asked["limit"])
        table = tensor_page(asked.trace.scene(process).read, positions)
    if asked["format"] == "columns":
        return column_page(table, header)
    return header | {"rows": table.to_pylist()}


WHERE = Parameter("where", 'a filter, such as nan > 0 and op == "Log"', "text", default="")

ROUTES = (
    Route(
        "/api/t/{trace}/tensors",
        "The tensors that were looked at, by page; as columns: see tdbg.web.columns",
        tensors,
        record(total=whole(), offset=whole(), at=maybe(whole()), rows=listing(TENSOR)),
        (
            PROCESS,
            WHERE,
            Parameter("step", "only of this step or run", least=-1),
            Parameter("execution", "only of this execution", least=-1),
            Parameter("graph", "only of this graph; -1: of eager ops", least=-1),
            Parameter("op", "only of this op"),
            Parameter("sort", "what to sort by", "text", default="seq", choices=SORT_KEYS),
            Parameter("desc", "1: the greatest first", "truth", default=False),
            OFFSET,
            LIMIT,
            Parameter("at", "an event: where it stands in the listing comes as `at`"),
            Parameter("map", "how many parts: how many bad ones each part of the listing has", most=2000, default=0),
            Parameter("format", "json or columns", "text", default="json", choices=("json", "columns")),
        ),
    ),
)
