"""Tells where the value of one tensor came from and where it went, as events."""

from __future__ import annotations

from typing import Any

import numpy as np

from tdbg.errors import TdbgError
from tdbg.query.listing.tensor_listing import positions_of
from tdbg.query.scene.cache import SceneCache
from tdbg.query.trace.program import Op
from tdbg.query.trace.rows import Row
from tdbg.query.verdict.case import Case

_MOST = 64


def find_row(read: SceneCache, seq: int) -> Row:
    """Reads the row of an event; TdbgError when there is none."""
    found = positions_of(read.pages, np.array([seq], np.int64))
    row = read.pages.rows(found[:1].astype(np.int64)).to_pylist()[0] if len(found) else {}
    if row.get("op") not in read.program.ops:
        raise TdbgError(f"this trace has no event #{seq:,} with a known op")
    return Row.of(row)


def inputs_and_consumers(read: SceneCache, row: Row) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Describes both. ``seq`` of an input is the event in which it was made; its numbers are as the op saw it."""
    case = Case(read.trace, read.rows, read.program, read.process, row)
    inputs = [
        {
            "index": fact.index,
            "seq": fact.made.seq if fact.made is not None else None,
            "is_given": fact.is_given,
            "text": fact.as_text(),
            "bad": fact.row.is_bad,
            **_about(read, fact.op),
            **fact.row.numbers(),
        }
        for fact in case.inputs[:_MOST]
    ]
    return inputs, [
        {"seq": taken.seq if taken is not None else None, "bad": bool(taken and taken.is_bad), **_about(read, reader)}
        for reader, taken in _consumers(case)[:_MOST]
    ]


def _consumers(case: Case) -> list[tuple[Op, Row | None]]:
    if case.op.graph < 0:
        return [(reader.op, reader.row) for reader in case.read_by]
    return [(reader, case.row_of(reader)) for reader in case.readers()[:_MOST]]


def _about(read: SceneCache, op: Op) -> dict[str, Any]:
    at = read.ops.at.get(op.number, -1)
    frame = read.program.user_frame(op)
    return {
        "op": op.number,
        "name": read.ops.shown[at] if at >= 0 else op.name,
        "type": read.ops.types[at] if at >= 0 else op.type,
        "file": frame.file if frame else None,
        "line": frame.line if frame else None,
    }
