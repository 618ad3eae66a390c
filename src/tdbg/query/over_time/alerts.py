"""Finds the alerts of a trace: bad values, functions that were traced again, shapes that changed between calls.

Alerts are worked out, not stored. Rollups say which tensors are concerned, so the rows of a large trace are read only
where something happened.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from tdbg.model import Frame
from tdbg.query.over_time.alert_kinds import KINDS, Alert
from tdbg.query.over_time.bad_values import bad_values
from tdbg.query.over_time.retraces import retraces
from tdbg.query.over_time.shape_changes import shape_changes
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace

SCHEMA = pa.schema(
    [
        ("kind", pa.string()),
        ("process", pa.int32()),
        ("step", pa.int32()),
        ("seq", pa.int64()),
        ("time", pa.int64()),
        ("op", pa.int32()),
        ("graph", pa.int32()),
        ("execution", pa.int64()),
        ("file", pa.string()),
        ("line", pa.int32()),
        ("text", pa.string()),
    ]
)


def find_alerts(trace: Trace, rows: Rows | None = None) -> pa.Table:
    """Finds all alerts, process by process and in the order of time; the columns are those of SCHEMA."""
    rows = rows or Rows(trace)
    ops = rows.ops
    found = []
    for process in trace.processes:
        program = Program(trace, process.index)
        mine = ops.filter(pa.compute.equal(ops["process"], process.index))
        for alert in _of_process(rows, program, process.index, mine):
            found.append((process.index, alert))
    found.sort(key=lambda item: (item[0], item[1].time, item[1].seq))
    return pa.Table.from_pylist([_as_row(process, alert) for process, alert in found], SCHEMA)


def count_alerts(trace: Trace) -> dict[str, int]:
    """Counts the alerts of each kind; kinds of which there are none count 0."""
    kinds = find_alerts(trace)["kind"].to_pylist()
    return {kind: kinds.count(kind) for kind in KINDS}


def _of_process(rows: Rows, program: Program, process: int, ops: pa.Table) -> Iterator[Alert]:
    yield from bad_values(rows, program, process, ops)
    yield from retraces(rows, program, process)
    yield from shape_changes(rows, program, process, ops)


def _as_row(process: int, alert: Alert) -> dict[str, Any]:
    frame = alert.frame or Frame("", -1, "", False)
    names = ("kind", "step", "seq", "time", "op", "graph", "execution", "text")
    row = {name: getattr(alert, name) for name in names}
    return row | {"process": process, "file": frame.file, "line": frame.line}
