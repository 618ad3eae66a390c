"""A process's ops with more than one shape in; an alert for each function and cause out: the argument, else the
iterator, else the first op whose shape changed between two calls."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tdbg.query.alert_kinds import Alert
from tdbg.query.program import Op, Program, joined
from tdbg.query.rows import Rows

_MOST_TRIED = 8  # ops of one function that are looked at when none of its arguments changed
_ENTRANCES = ("IteratorGetNext", "IteratorGetNextSync", "OptionalGetValue")


class Change(NamedTuple):
    """The first call in which a tensor has another shape than in the call before."""

    op: Op
    slot: int
    old: list[int]
    new: list[int]
    step: int
    seq: int
    time: int
    execution: int


def shape_changes(rows: Rows, program: Program, process: int, ops: pa.Table) -> Iterator[Alert]:
    varied = ops.filter(pc.less(ops["least_shape"], ops["greatest_shape"])).select(["op", "slot"]).to_pylist()
    if not varied:
        return
    outer = dict(rows.query(f'SELECT graph, "outer" FROM graphs WHERE process = {process}'))
    functions: dict[int, list[tuple[Op, int]]] = defaultdict(list)
    for row in varied:
        op = program.ops.get(row["op"])
        if op is not None and op.graph >= 0:
            functions[_root(outer, op.graph)].append((op, row["slot"]))
    for graph in sorted(functions):
        yield from _of_function(rows, program, process, graph, functions[graph])


def _root(outer: dict[int, int], graph: int) -> int:
    while outer.get(graph, -1) >= 0:
        graph = outer[graph]
    return graph


def _of_function(
    rows: Rows, program: Program, process: int, graph: int, varied: list[tuple[Op, int]]
) -> Iterator[Alert]:
    function = program.functions.get(graph)
    arguments = set(function.arguments) if function else set()
    entered = [place for place in varied if place[0].number in arguments]
    if not entered:
        entered = [place for place in varied if place[0].type in _ENTRANCES]
    changes = [change for op, slot in entered if (change := _first_change(rows, process, op, slot))]
    if not entered:
        tried = (_first_change(rows, process, op, slot) for op, slot in sorted(varied, key=_number)[:_MOST_TRIED])
        changes = [change for change in tried if change][:1]
    together: dict[int, list[Change]] = defaultdict(list)  # what changes in the same call has one cause
    for change in changes:
        together[change.execution].append(change)
    name = _name(rows, process, graph)
    for same in together.values():
        first = min(same, key=lambda change: change.seq)
        what = joined([_sentence(change, change.op.number in arguments) for change in same])
        text = f"{name}: {what}, first in step {first.step}"
        frame = program.user_frame(first.op)
        yield Alert(
            "shape_change", text, frame, first.step, first.seq, first.time, first.op.number, graph, first.execution
        )


def _number(place: tuple[Op, int]) -> int:
    return place[0].number


def _first_change(rows: Rows, process: int, op: Op, slot: int) -> Change | None:
    """Outside loops only: from one iteration to the next a shape may well change."""
    found = rows.query(
        f"""
        SELECT old.dims, new.dims, t.step, t.seq, t.time, t.execution FROM (
            SELECT shape, seq, step, time, execution, lag(shape) OVER (ORDER BY seq) AS before,
                   lag(execution) OVER (ORDER BY seq) AS call
            FROM tensors
            WHERE process = {process} AND op = ? AND slot = ? AND iteration = -1 AND flags & 16 = 0
        ) t
        JOIN shapes old ON old.process = {process} AND old.shape = t.before
        JOIN shapes new ON new.process = {process} AND new.shape = t.shape
        WHERE t.before <> t.shape AND t.call <> t.execution ORDER BY t.seq LIMIT 1
        """,
        [op.number, slot],
    )
    return Change(op, slot, *found[0]) if found else None


def _name(rows: Rows, process: int, graph: int) -> str:
    found = rows.query(
        f"""
        SELECT coalesce(nullif(f.python, ''), g.name) FROM graphs g LEFT JOIN functions f USING (process, graph)
        WHERE process = {process} AND graph = ? LIMIT 1
        """,
        [graph],
    )
    return found[0][0] if found else f"graph {graph}"


def _sentence(change: Change, is_argument: bool) -> str:
    what = f"argument {change.op.name}" if is_argument else f"{change.op.name} (output {change.slot})"
    old, new = change.old, change.new
    text = f"the shape of {what} changed from {_shape(old)} to {_shape(new)}"
    if len(old) != len(new):
        return f"{text} (rank {len(old)} to {len(new)})"
    dims = [f"dimension {at}" for at, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    return f"{text} ({joined(dims)})"


def _shape(dims: list[int]) -> str:
    return "[" + ",".join(map(str, dims)) + "]"
