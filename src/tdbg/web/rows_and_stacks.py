"""Writes stacks and rows of tensors as the page gets them, in the same words for all routes, and describes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tdbg.model import NUMBERS, Frame
from tdbg.query.listing.tensor_listing import positions_of
from tdbg.query.listing.tensor_page import tensor_page
from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.program import Program
from tdbg.web.schema import listing, maybe, named, number, record, text, together, truth, whole

FRAME = named(
    "Frame", record(file=text(), line=whole(), function=text(), is_user=truth(), source=text("the line's text"))
)
STACK = listing(FRAME)

_KINDS = {one.name: whole() if one.is_count else number() for one in NUMBERS}
SUMMARY = record(**_KINDS)
NUMBERS_OF_TENSOR = named(
    "Numbers",
    record(**{name: maybe(kind) for name, kind in _KINDS.items()} | {"elements": whole()}),
    "What was counted and measured of a tensor; null: it was not.",
)

TENSOR = named(
    "Tensor",
    together(
        NUMBERS_OF_TENSOR,
        record(
            seq=whole("the number of the event"),
            step=whole(),
            execution=whole(),
            op=whole(),
            slot=whole(),
            iteration=whole("of the innermost loop around it; -1 outside loops"),
            time=number("in ms since the trace began"),
            graph=whole("-1: an eager op"),
            name=text(),
            type=text("the op's type"),
            phase=text("forward, backward, update or other"),
            dtype=text(),
            shape=text("as JSON; empty if unknown"),
            flags=whole(
                "1 bad, 2 has numbers, 4 came in here, 8 bad although its inputs are good, 32 result of a call"
            ),
            bad=truth(),
            kept=truth("whether its elements can be read"),
        ),
    ),
    "A row of the table of tensors: one output of an op, as it was once.",
)

HEALTH = named(
    "Health",
    record(
        rows=whole("its recorded tensors"),
        bad=whole(),
        nan=whole("elements"),
        inf=whole("elements"),
        first_bad_seq=whole("-1: none"),
        min=maybe(number()),
        max=maybe(number()),
        tensors=whole("recorded outputs"),
        benign=whole("how many of the bad ones were harmless, once there is a verdict"),
    ),
    "How all recorded tensors of something are.",
)


def frames(program: Program, stack: int) -> list[dict[str, Any]]:
    """Writes the frames of a stack, innermost first, without tdbg's own."""
    return [frame_data(frame, program) for frame in program.shown_stack(stack)]


def frame_data(frame: Frame, program: Program) -> dict[str, Any]:
    return {
        "file": frame.file,
        "line": frame.line,
        "function": frame.function,
        "is_user": frame.is_user,
        "source": program.line_text(frame),
    }


def events(read: SceneCache, seqs: Sequence[int]) -> list[dict[str, Any]]:
    """Gives the rows of some events, in their order."""
    found = positions_of(read.pages, np.unique(np.array(seqs, np.int64)))
    return tensor_page(read, found).to_pylist()


def tensors_of(read: SceneCache, numbers: Sequence[int]) -> list[dict[str, Any]]:
    """Gives the rows of eager tensors, by the framework's numbers; those without a row are left out."""
    if not numbers:
        return []
    found = read.rows.numbers(
        f"SELECT min(seq) FROM tensors WHERE process = {read.process} AND tensor IN (SELECT unnest(?)) "
        "AND flags & 16 = 0 GROUP BY tensor",
        [list(numbers)],
    )
    return events(read, found.tolist())
