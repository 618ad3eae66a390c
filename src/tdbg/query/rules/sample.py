"""Reads the numbers of some training steps from a trace: one series for each tensor of the program.

All rules share this one reading. Of a long run only windows of neighbouring steps are read: the first, the last, and
some between, so that ten million rows are as quick as ten thousand.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from tdbg.model import Flag
from tdbg.query.rules.series import ARRAYS, SUMS, Node, Place, Series
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace

_MOST_ROWS, _LARGEST_STEP = 300_000, 200_000
_EDGE_WINDOW, _FEWEST_STEPS, _MOST_STEPS = 16, 12, 96


class Window(NamedTuple):
    """Neighbouring steps, and the events in which they happened."""

    first_step: int
    last_step: int
    first_event: int
    last_event: int


class Sample(NamedTuple):
    """The numbers of the chosen steps."""

    series: dict[Place, Series]
    windows: list[Window]
    made: dict[int, Place]  # eager tensor -> who made it, in the last of the steps
    turns: dict[int, Node]  # execution of an eager op -> its node


NO_STEPS = Sample({}, [], {}, {})


def choose_windows(trace: Trace, process: int, before: int | None) -> list[Window] | str:
    """Chooses what to read, of the steps before ``before`` alone; a text says why there is nothing."""
    table = trace.rollup("steps").to_pydict()
    found = sorted(
        (step, first, last, rows)
        for of, step, first, last, rows in zip(
            *(table[name] for name in ("process", "step", "first_seq", "last_seq", "rows")), strict=True
        )
        if of == process and (before is None or step < before)
    )
    if not found:
        return "no step was recorded before the first bad value" if before is not None else "no step was recorded"
    per_step = float(np.median([rows for *_, rows in found]))
    if per_step > _LARGEST_STEP:
        return f"a step has {per_step:,.0f} tensors, more than the rules look at"
    wanted = int(np.clip(_MOST_ROWS / max(per_step, 1), _FEWEST_STEPS, _MOST_STEPS))
    return [_window(found[a:b]) for a, b in _ranges(len(found), wanted)]


def _window(steps: list[tuple[int, int, int, int]]) -> Window:
    return Window(steps[0][0], steps[-1][0], min(s[1] for s in steps), max(s[2] for s in steps))


def _ranges(count: int, wanted: int) -> list[tuple[int, int]]:
    """Spreads windows over ``count`` steps, of which about ``wanted`` are to be read: begin and end of each."""
    if count <= wanted:
        return [(0, count)]
    edge = min(_EDGE_WINDOW, wanted // 2)
    ranges = [(0, edge)]
    between, size = (wanted - 2 * edge) // 8, 8
    for number in range(between):
        start = edge + (count - 2 * edge - size) * (number + 1) // (between + 1)
        if start >= ranges[-1][1] and start + size <= count - edge:
            ranges.append((start, start + size))
    return [*ranges, (count - edge, count)]


def read_sample(rows: Rows, program: Program, process: int, windows: list[Window]) -> Sample:
    """Reads all tensors of the windows whose numbers were recorded."""
    names = ("op", "slot", "step", "execution", "seq", "dtype", "shape", "flags", "tensor", *SUMS, *ARRAYS[-4:])
    select = ", ".join(names)
    parts = [
        f"SELECT {select} FROM tensors WHERE process = {process} AND seq BETWEEN {low} AND {high} AND step BETWEEN "
        f"{first} AND {last} AND flags & {int(Flag.NUMBERS)} != 0 AND flags & {int(Flag.EVIDENCE)} = 0"
        for first, last, low, high in windows
    ]
    columns = rows.arrays(" UNION ALL ".join(parts))
    known = np.isin(columns["op"], np.fromiter(program.ops, np.int64, len(program.ops)))
    columns = {name: column[known] for name, column in columns.items()}
    eager_ops = np.array([op.number for op in program.ops.values() if op.graph < 0], np.int64)
    turn, turns = _turns(columns, np.isin(columns["op"], eager_ops))
    columns["turn"] = turn
    columns["given"] = (columns["flags"] & int(Flag.INPUT)) != 0
    return Sample(_series(columns), windows, _makers(columns), turns)


def _turns(columns: dict[str, np.ndarray], is_eager: np.ndarray) -> tuple[np.ndarray, dict[int, Node]]:
    """Counts the executions of each eager op within a step; says for each row which of them made it, and for each
    execution of the last step which node it is."""
    turn = np.zeros(len(is_eager), np.int64)
    at = np.flatnonzero(is_eager)
    if not len(at):
        return turn, {}
    op, step, execution = (columns[name][at].astype(np.int64) for name in ("op", "step", "execution"))
    order = np.lexsort((execution, step, op))
    op, step, execution = op[order], step[order], execution[order]
    is_new_group = np.r_[True, (op[1:] != op[:-1]) | (step[1:] != step[:-1])]
    is_new = is_new_group | np.r_[True, execution[1:] != execution[:-1]]
    counted = np.cumsum(is_new) - 1
    starts = counted[is_new_group][np.cumsum(is_new_group) - 1]
    turn[at[order]] = counted - starts
    last = step == step.max()
    turns = zip(execution[last].tolist(), op[last].tolist(), (counted - starts)[last].tolist(), strict=True)
    return turn, {execution: Node(op, turn) for execution, op, turn in turns}


def _makers(columns: dict[str, np.ndarray]) -> dict[int, Place]:
    """Finds which place made each eager tensor of the last step."""
    if not len(columns["step"]):
        return {}
    # A loop over a dataset reads its next batch before the step begins that uses it.
    wanted = (columns["step"] >= columns["step"].max() - 1) & (columns["tensor"] >= 0)
    found: dict[int, Place] = {}
    names = ("tensor", "op", "turn", "slot", "given")
    for tensor, op, turn, slot, given in zip(*(columns[name][wanted].tolist() for name in names), strict=True):
        if tensor not in found or not given:
            found[tensor] = Place(Node(op, turn), slot, bool(given))
    return found


def _series(columns: dict[str, np.ndarray]) -> dict[Place, Series]:
    """Puts the rows of each place in the order of its steps."""
    keys = [columns[name] for name in ("seq", "step", "given", "slot", "turn", "op")]
    order = np.lexsort(keys)
    if not len(order):
        return {}
    columns = {name: column[order] for name, column in columns.items()}
    by_place = [columns[name] for name in ("op", "turn", "slot", "given")]
    new_place = np.r_[True, np.any([key[1:] != key[:-1] for key in by_place], axis=0)]
    new_entry = new_place | np.r_[True, columns["step"][1:] != columns["step"][:-1]]
    starts = np.flatnonzero(new_entry)
    merged = _merge(columns, starts)
    first_entries = np.flatnonzero(new_place[starts])
    bounds = zip(first_entries.tolist(), np.r_[first_entries[1:], len(starts)].tolist(), strict=True)
    found = {}
    for begin, end in bounds:
        at = starts[begin]
        node = Node(int(columns["op"][at]), int(columns["turn"][at]))
        place = Place(node, int(columns["slot"][at]), bool(columns["given"][at]))
        last = starts[end - 1]
        arrays = (merged[name][begin:end] for name in ARRAYS)
        found[place] = Series(place, int(columns["dtype"][last]), int(columns["shape"][last]), *arrays)
    return found


def _merge(columns: dict[str, np.ndarray], starts: np.ndarray) -> dict[str, np.ndarray]:
    """Makes one entry of several rows of a tensor in one step, as loops and repeated calls give them."""
    merged = {"step": columns["step"][starts]}
    merged |= {name: np.add.reduceat(columns[name].astype(np.float64), starts) for name in SUMS}
    merged["min"], merged["max"] = np.fmin.reduceat(columns["min"], starts), np.fmax.reduceat(columns["max"], starts)
    if len(starts) == len(columns["step"]):
        return merged | {"mean": columns["mean"], "std": columns["std"]}
    weight = columns["elements"].astype(np.float64)
    total = np.maximum(merged["elements"], 1)
    mean, std = np.nan_to_num(columns["mean"]), np.nan_to_num(columns["std"])
    merged["mean"] = np.add.reduceat(mean * weight, starts) / total
    square = np.add.reduceat((std**2 + mean**2) * weight, starts) / total
    merged["std"] = np.sqrt(np.maximum(square - merged["mean"] ** 2, 0))
    return merged
