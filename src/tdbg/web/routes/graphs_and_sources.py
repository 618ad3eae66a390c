"""Answers for the program behind the numbers: ops and what is around them, graphs, files, stacks."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tdbg.query.flow.neighbourhood import neighbourhood
from tdbg.query.listing.op_health import first_bad
from tdbg.web.route import PROCESS, Asked, NotFoundError, Parameter, Route
from tdbg.web.rows_and_stacks import HEALTH, STACK, frames
from tdbg.web.schema import (
    PLACE,
    by_name,
    counts,
    listing,
    maybe,
    named,
    number,
    one_of,
    record,
    text,
    together,
    truth,
    whole,
    with_optional,
)


def op(asked: Asked) -> dict[str, Any]:
    process = asked.process()
    with asked.trace.lock:
        read = asked.trace.scene(process).read
        if asked["op"] not in read.program.ops:
            raise NotFoundError(f"there is no op {asked['op']} in this trace")
        found = neighbourhood(read, asked.trace.healths(process), asked["op"], asked["depth"])
        return found | {"stack": frames(read.program, found["stack"])}


def graphs(asked: Asked) -> dict[str, Any]:
    process = asked.process()
    with asked.trace.lock:
        return {"graphs": asked.trace.scopes(process).graphs()}


def graph(asked: Asked) -> dict[str, Any]:
    process = asked.process()
    with asked.trace.lock:
        return asked.trace.scopes(process).inside(asked["graph"], asked["scope"], asked["norms"])


def sources(asked: Asked) -> dict[str, Any]:
    with asked.trace.lock:
        read = asked.trace.scene(asked.process()).read
        files = read.sources.files(read.rowset(None))
        kept = set(read.program.files())
    return {
        "files": [
            {
                "file": one.path,
                "is_user": one.is_user,
                "ops": one.nodes,
                "tensors": one.tensors,
                "rows": one.dumps,
                "first_line": one.first_line,
                "is_kept": one.path in kept,
            }
            for one in files
        ]
    }


def source(asked: Asked) -> dict[str, Any]:
    """Gives a file as it was when the program ran, from the trace: no other file can be asked for."""
    process = asked.process()
    with asked.trace.lock:
        read = asked.trace.scene(process).read
        healths = asked.trace.healths(process)
        file, made = read.sources.ops_by_line(asked["file"])
        lines = read.program.text_of(file)
        found = []
        for line in range(1, max(len(lines), max(made, default=0)) + 1):
            ops = made.get(line, [])
            health = [healths.of(one) for one in ops]
            found.append(
                {
                    "line": line,
                    "text": lines[line - 1] if line <= len(lines) else "",
                    "ops": ops,
                    "types": dict(Counter(read.ops.types[read.ops.at[one]] for one in ops).most_common(8)),
                    "rows": sum(one.rows for one in health),
                    "bad": sum(one.bad for one in health),
                    "benign": sum(one.benign for one in health),
                    "first_bad_seq": min(first_bad(health), default=-1),
                }
            )
    return {"file": file, "is_kept": bool(lines), "lines": found}


def stack(asked: Asked) -> dict[str, Any]:
    with asked.trace.lock:
        program = asked.trace.scene(asked.process()).read.program
        found = frames(program, asked["stack"])
    if not found:
        raise NotFoundError(f"there is no stack {asked['stack']} in this trace")
    return {"frames": found}


_OP = named(
    "OpFacts",
    together(HEALTH, record(op=whole(), name=text(), type=text(), phase=text(), graph=whole(), **PLACE)),
)
_OUTPUT = together(HEALTH, record(slot=whole(), consumers=listing(_OP)))
_OP_DETAIL = named(
    "OpDetail",
    together(
        _OP,
        record(
            device=text(),
            function=text(),
            attributes=by_name(text()),
            stack=STACK,
            forward=whole("the op that it differentiates; -1: none"),
            inputs=listing(together(_OP, record(index=whole(), slot=whole()))),
            outputs=listing(_OUTPUT),
            control_inputs=listing(text()),
            control_outputs=listing(text()),
            nodes=listing(_OP),
            edges=listing(record(**{name: whole() for name in ("from", "slot", "to", "index")})),
            left_out=whole("ops around it that are left out"),
        ),
    ),
)
_GRAPH = named(
    "GraphEntry",
    together(HEALTH, record(graph=whole(), outer=whole(), process=whole(), name=text(), function=text(), ops=whole())),
)
_THING = named(
    "Thing",
    together(
        HEALTH,
        with_optional(
            record(
                name=text(),
                kind=one_of(("scope", "op")),
                op=whole("-1: a scope"),
                type=text(),
                ops=whole(),
                phase=text(),
                from_outside=whole(),
                to_outside=whole(),
            ),
            norm=maybe(number()),
        ),
    ),
    "What is directly inside a scope: an op, or a scope with all that is in it.",
)
_SCOPE = named(
    "Scope",
    record(
        graph=whole(),
        scope=text(),
        left_out=whole(),
        things=listing(_THING),
        edges=listing(record(**{name: whole() for name in ("from", "to", "count")})),
    ),
)
_SOURCE_FILES = named(
    "SourceFiles",
    record(
        files=listing(
            record(
                file=text(),
                is_user=truth(),
                ops=whole(),
                tensors=whole(),
                rows=whole(),
                first_line=whole(),
                is_kept=truth("whether the trace contains its text"),
            )
        )
    ),
)
_SOURCE_LINE = named(
    "SourceLine",
    record(
        line=whole(),
        text=text(),
        ops=listing(whole()),
        types=counts(),
        rows=whole(),
        bad=whole(),
        benign=whole(),
        first_bad_seq=whole(),
    ),
)
_SOURCE_TEXT = named("SourceText", record(file=text(), is_kept=truth(), lines=listing(_SOURCE_LINE)))

ROUTES = (
    Route(
        "/api/t/{trace}/op",
        "An op, its inputs by slot, its outputs with their consumers, and the ops around it",
        op,
        _OP_DETAIL,
        (
            PROCESS,
            Parameter("op", "its number", is_required=True),
            Parameter("depth", "how many ops backwards and forwards", default=1, least=1, most=4),
        ),
    ),
    Route(
        "/api/t/{trace}/graphs",
        "All graphs; eager ops are graph -1",
        graphs,
        named("Graphs", record(graphs=listing(_GRAPH))),
        (PROCESS,),
    ),
    Route(
        "/api/t/{trace}/graph",
        "What is directly inside a scope of a graph, and what flows between (edges are positions in `things`)",
        graph,
        _SCOPE,
        (
            PROCESS,
            Parameter("graph", "its number; -1: eager ops", least=-1, is_required=True),
            Parameter("scope", "such as dense/MatMul; empty: the whole graph", "text", default=""),
            Parameter("norms", "1: with norms, which takes a while the first time", "truth", default=False),
        ),
    ),
    Route(
        "/api/t/{trace}/sources",
        "The Python files that created ops, the user's first",
        sources,
        _SOURCE_FILES,
        (PROCESS,),
    ),
    Route(
        "/api/t/{trace}/source",
        "A file as it was when the program ran, each line with the ops that it created and their health",
        source,
        _SOURCE_TEXT,
        (PROCESS, Parameter("file", "its path, or the end of it", "text", is_required=True)),
    ),
    Route(
        "/api/t/{trace}/stack",
        "A stack, innermost frame first",
        stack,
        record(frames=STACK),
        (PROCESS, Parameter("stack", "its number", is_required=True)),
    ),
)
