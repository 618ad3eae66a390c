"""Answers for tensors: pages of them as JSON or columns, one with its stack, and where its value came from."""

from __future__ import annotations

import threading
from typing import Any

from tdbg.query.flow.origin_path import Way, Ways
from tdbg.query.flow.tensor_detail import find_row, inputs_and_consumers
from tdbg.query.listing.tensor_listing import SORT_KEYS, Wanted
from tdbg.query.listing.tensor_page import tensor_page
from tdbg.web.columns import column_page
from tdbg.web.route import LIMIT, OFFSET, PROCESS, Answer, Asked, Parameter, Route
from tdbg.web.rows_and_stacks import NUMBERS_OF_TENSOR, STACK, TENSOR, events, frames
from tdbg.web.schema import PLACE, listing, maybe, named, number, record, text, together, truth, whole, with_optional
from tdbg.web.traces import ServedTrace


def tensors(asked: Asked) -> dict[str, Any] | Answer:
    process = asked.process()
    with asked.trace.lock:
        listings = asked.trace.listings(process)
        found = listings.find(_wanted(asked, process))
        header: dict[str, Any] = {"total": len(found), "offset": asked["offset"], "at": None}
        if asked["at"] is not None:
            header["at"] = found.place_of(asked["at"])
        if asked["map"]:
            bad = listings.harmful(asked.trace.harmless(process))
            header["map"] = found.bad_places(asked["map"], bad)
        positions = found.positions(asked["offset"], asked["limit"])
        table = tensor_page(asked.trace.scene(process).read, positions)
    if asked["format"] == "columns":
        return column_page(table, header)
    return header | {"rows": table.to_pylist()}


def _wanted(asked: Asked, process: int) -> Wanted:
    names = ("where", "step", "run", "execution", "graph", "op", "sort")
    wanted = {name: asked[name] for name in names} | {"descending": asked["desc"]}
    made = ops_of_line(asked.trace, process, asked["file"], asked["line"]) if asked["file"] else None
    if asked["layer"]:
        layer = asked.trace.groups(process).ops_of_layer(asked["layer"])
        made = layer if made is None else tuple(op for op in layer if op in made)
    wanted["ops"] = made
    return Wanted(**wanted)


def ops_of_line(trace: ServedTrace, process: int, file: str, line: int | None) -> tuple[int, ...]:
    """Finds the ops that a line made, or all lines of a file. To be called only while the trace's lock is held."""
    _, made = trace.scene(process).read.sources.ops_by_line(file)
    lines = [line] if line is not None else list(made)
    return tuple(sorted({op for one in lines for op in made.get(one, ())}))


def tensor(asked: Asked) -> dict[str, Any]:
    with asked.trace.lock:
        read = asked.trace.scene(asked.process()).read
        row = find_row(read, asked["seq"])
        inputs, consumers = inputs_and_consumers(read, row)
        op = read.program.ops[row.op]
        frame = read.program.user_frame(op)
        return events(read, [row.seq])[0] | {
            "process": read.process,
            "file": frame.file if frame else None,
            "line": frame.line if frame else None,
            "forward": op.forward,
            "stack": frames(read.program, op.stack),
            "inputs": inputs,
            "consumers": consumers,
        }


def _way(trace: ServedTrace, process: int, seq: int) -> Way:
    ways, lock = trace.kept(("ways", process), lambda: (Ways(trace.apart(), process), threading.Lock()))
    with lock:
        return ways.find(seq)


def lineage(asked: Asked) -> dict[str, Any]:
    trace, process, seq = asked.trace, asked.process(), asked["seq"]
    with trace.lock:
        find_row(trace.scene(process).read, seq)
    found: Way = trace.kept(("way", process, seq), lambda: _way(trace, process, seq))
    return {
        "stops": [
            stop.as_dict() | {"op": stop.op.number, "slot": stop.row.slot, "execution": stop.row.execution}
            for stop in found.stops
        ],
        "inputs": [
            {
                "index": fact.index,
                "op": fact.op.number,
                "type": fact.op.type,
                "seq": fact.made.seq if fact.made is not None else None,
                "text": fact.as_text(),
                "file": fact.frame.file if fact.frame else None,
                "line": fact.frame.line if fact.frame else None,
            }
            for fact in found.inputs
        ],
        "end": found.end,
    }


WHERE = Parameter("where", 'a filter, such as nan > 0 and op == "Log"', "text", default="")
SEQ = Parameter("seq", "the number of the event", is_required=True)
_NEAR = named(
    "Neighbour",
    record(seq=maybe(whole()), op=whole(), name=text(), type=text(), **PLACE, bad=truth()),
    "A neighbour of a tensor, by the event it was then; null: it has no row.",
)
_LISTED = with_optional(
    record(total=whole(), offset=whole(), at=maybe(whole()), rows=listing(TENSOR)), map=listing(whole())
)
_INPUT = named(
    "TensorInput",
    together(_NEAR, NUMBERS_OF_TENSOR, record(index=whole(), is_given=truth(), text=text())),
)
_STOP = named(
    "LineageStop",
    record(
        tensor=text(),
        op_type=text(),
        op=whole(),
        slot=whole(),
        step=whole(),
        execution=whole(),
        seq=whole(),
        bad=maybe(text("its bad values, counted")),
        min=maybe(number()),
        max=maybe(number()),
        source=maybe(text()),
        **PLACE,
    ),
)
_GIVEN = named("LineageInput", record(index=whole(), op=whole(), type=text(), seq=maybe(whole()), text=text(), **PLACE))

ROUTES = (
    Route(
        "/api/t/{trace}/tensors",
        "The recorded tensors, by page; for columns see tdbg.web.columns",
        tensors,
        named("Tensors", _LISTED),
        (
            PROCESS,
            WHERE,
            Parameter("step", "only of this training step", least=-1),
            Parameter("run", "only of this run of a Session", least=-1),
            Parameter("execution", "only of this execution", least=-1),
            Parameter("graph", "only of this graph; -1: of eager ops", least=-1),
            Parameter("op", "only of this op"),
            Parameter("file", "only of ops created in this file", "text", default=""),
            Parameter("line", "and, of these, only those of this line"),
            Parameter("layer", "only of ops of this layer", "text", default=""),
            Parameter("sort", "what to sort by", "text", default="seq", choices=SORT_KEYS),
            Parameter("desc", "1: the largest first", "truth", default=False),
            OFFSET,
            LIMIT,
            Parameter("at", "an event; its position in the listing is returned as `at`"),
            Parameter("map", "count the harmful ones in each of this many parts", most=2000, default=0),
            Parameter("format", "json or columns", "text", default="json", choices=("json", "columns")),
        ),
    ),
    Route(
        "/api/t/{trace}/tensor",
        "One tensor, with the stack of its op, the op's inputs, and what read it",
        tensor,
        named(
            "TensorDetail",
            together(
                TENSOR,
                record(
                    process=whole(),
                    **PLACE,
                    forward=whole("the op that its op differentiates; -1: none"),
                    stack=STACK,
                    inputs=listing(_INPUT),
                    consumers=listing(_NEAR),
                ),
            ),
        ),
        (PROCESS, SEQ),
    ),
    Route(
        "/api/t/{trace}/lineage",
        "Where a value came from, back to where bad values began or to what entered the program",
        lineage,
        named("Lineage", record(stops=listing(_STOP), inputs=listing(_GIVEN), end=text("why it ends there"))),
        (PROCESS, SEQ),
    ),
)
