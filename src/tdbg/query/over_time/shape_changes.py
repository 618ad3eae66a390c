"""Finds functions whose tensors changed their shape between two calls, one alert for each cause: the argument that
changed, else what came from a data pipeline, else the first op."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from tdbg.query.over_time.alert_kinds import Alert
from tdbg.query.trace.program import Op, Program, joined
from tdbg.query.trace.rows import Rows
from tdbg.vocabulary import PIPELINES

_MOST_TRIED = 8  # ops of one function that are looked at when none of its arguments changed
Place = tuple[int, int]  # op, slot


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
    functions: dict[int, list[Place]] = defaultdict(list)
    for row in varied:
        op = program.ops.get(row["op"])
        if op is not None and op.graph >= 0:
            functions[_root(outer, op.graph)].append((op.number, row["slot"]))
    tried = {graph: _where_it_enters(program, graph, places) for graph, places in functions.items()}
    found = _first_changes(rows, program, process, [place for places, _ in tried.values() for place in places])
    for graph, (places, is_entrance) in sorted(tried.items()):
        changes = [found[place] for place in places if place in found]
        yield from _of_function(rows, program, process, graph, changes if is_entrance else changes[:1])


def _root(outer: dict[int, int], graph: int) -> int:
    while outer.get(graph, -1) >= 0:
        graph = outer[graph]
    return graph


def _where_it_enters(program: Program, graph: int, varied: list[Place]) -> tuple[list[Place], bool]:
    """Finds the arguments that changed, else what a data pipeline gives, else (with False) some ops in the order they
    were made."""
    arguments = _arguments(program, graph)
    entered = [place for place in varied if place[0] in arguments]
    if not entered:
        entered = [place for place in varied if program.ops[place[0]].kind in PIPELINES]
    return (entered, True) if entered else (sorted(varied)[:_MOST_TRIED], False)


def _arguments(program: Program, graph: int) -> set[int]:
    function = program.functions.get(graph)
    return set(function.arguments) if function else set()


def _of_function(rows: Rows, program: Program, process: int, graph: int, changes: list[Change]) -> Iterator[Alert]:
    together: dict[int, list[Change]] = defaultdict(list)  # what changes in the same call has one cause
    for change in changes:
        together[change.execution].append(change)
    arguments = _arguments(program, graph)
    for same in together.values():
        first = min(same, key=lambda change: (change.op.number, change.slot))  # arguments are watched in any order
        what = joined([_sentence(change, change.op.number in arguments) for change in same])
        text = f"{_name(rows, process, graph)}: {what}, first in step {first.step}"
        frame = program.user_frame(first.op)
        yield Alert(
            "shape_change", text, frame, first.step, first.seq, first.time, first.op.number, graph, first.execution
        )


def _first_changes(rows: Rows, program: Program, process: int, places: list[Place]) -> dict[Place, Change]:
    """Finds the first change of each tensor, outside loops only: from one iteration to the next a shape may well
    change."""
    if not places:
        return {}
    wanted = ", ".join(f"({op}, {slot})" for op, slot in places)
    ops = ", ".join(str(op) for op in sorted({op for op, _ in places}))
    found = rows.query(
        f"""
        SELECT t.op, t.slot, old.dims, new.dims, t.step, t.seq, t.time, t.execution FROM (
            SELECT op, slot, shape, seq, step, time, execution,
                   lag(shape) OVER calls AS before, lag(execution) OVER calls AS call
            FROM tensors WHERE process = {process} AND op IN ({ops}) AND iteration = -1 AND flags & 16 = 0
            WINDOW calls AS (PARTITION BY op, slot ORDER BY seq)
        ) t
        JOIN shapes old ON old.process = {process} AND old.shape = t.before
        JOIN shapes new ON new.process = {process} AND new.shape = t.shape
        WHERE t.before <> t.shape AND t.call <> t.execution AND (t.op, t.slot) IN ({wanted})
        QUALIFY row_number() OVER (PARTITION BY t.op, t.slot ORDER BY t.seq) = 1
        """
    )
    return {(row[0], row[1]): Change(program.ops[row[0]], *row[1:]) for row in found}


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
