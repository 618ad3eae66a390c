"""Finds the first op and line where two traces part by more than rounding explains.

Rows are compared in the order of the first trace's events, step by step. Each op's values come after those that it
read, so the first row that parts is where the parting began. Rounding is not the same everywhere: a difference is
taken for rounding when it is small for its type and the size of the sums, or grew little by little from differences
that were there before.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import NamedTuple

import numpy as np

from tdbg.errors import TdbgError
from tdbg.model import BAD_COUNTS, MEASURED, STATISTICS, Flag, is_bad
from tdbg.query.compare.alignment import Alignment, align
from tdbg.query.compare.answer import FINITE_COUNTS, Diff, Parting, Side, what_differs
from tdbg.query.compare.one_sided import OneSided, first_alone, have_same_versions
from tdbg.query.compare.rounding import differences, epsilons
from tdbg.query.compare.row_pairs import keys, look_up, pack
from tdbg.query.trace.coverage import find_coverage
from tdbg.query.trace.program import Program
from tdbg.query.trace.rows import Rows
from tdbg.query.trace.trace import Trace
from tdbg.vocabulary import ADDITIONS, Kind

_COLUMNS = ("seq", "step", "op", "slot", "execution", "iteration", "dtype", "shape", "elements", "flags", "value")
_ROWS_AT_ONCE = 400_000
_UNITS, _PER_SUM = 32.0, 4.0  # how many last places may differ: always, and for each square root of a summand
_GROWTH = 100.0  # how much larger than all differences before it a difference may be
_SIGN_SHARE = 0.01  # of the elements that may change their sign
_GIVEN = frozenset((Kind.CONSTANT, Kind.ARGUMENT, Kind.READ))
_SUMS = ADDITIONS | {
    Kind.ADD_N, Kind.SUBTRACT, Kind.SQUARED_DIFFERENCE, Kind.SUM, Kind.MEAN, Kind.BIAS_GRADIENT,
}  # fmt: skip


def compare(first: Trace, second: Trace, exact: bool = False, numbers_only: bool = False) -> Diff:
    """Compares two traces process by process, in their order. With ``numbers_only``, other element types and ops do not
    part the runs."""
    count = min(len(first.processes), len(second.processes))
    pairs = [_Pair(first, second, process, exact, numbers_only) for process in range(count)]
    notes = []
    if len(first.processes) != len(second.processes):
        notes.append(f"A has {len(first.processes)} processes and B has {len(second.processes)}; {count} were compared")
    for pair in pairs:
        pair.search()
    partings = [pair.parting for pair in pairs if pair.parting is not None]
    notes += [note for pair in pairs for note in pair.notes()]
    for name, trace in (("A", first), ("B", second)):
        notes += [f"{name}: {note}" for note in find_coverage(trace, Rows(trace)).notes]
    compared = sum(pair.compared for pair in pairs)
    if not compared and not partings:
        why = "; ".join(note.rstrip(".") for note in notes) or "they have no op in common"
        raise TdbgError(f"Nothing in these traces can be compared: {why}.")
    return Diff(
        str(first.path),
        str(second.path),
        exact,
        min(partings, key=lambda parting: parting.step, default=None),
        compared,
        compared - min(compared, sum(pair.unmeasured for pair in pairs)),
        len({step for pair in pairs for step in pair.steps_done}),
        max(pair.largest for pair in pairs),
        tuple(notes),
    )


class _Rows(NamedTuple):
    """Rows of both sides that belong together, in the order of the first side's events."""

    first: dict[str, np.ndarray]
    second: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.first["seq"])


class _Pair:
    """Compares one process of both traces."""

    def __init__(self, first: Trace, second: Trace, process: int, exact: bool, numbers_only: bool) -> None:
        self._traces, self._process = (first, second), process
        self._exact, self._numbers_only = exact, numbers_only
        self._rows = (Rows(first), Rows(second))
        self._programs = (Program(first, process), Program(second, process))
        self.alignment: Alignment = align(*self._programs)
        same_versions = have_same_versions(*(trace.processes[process].info for trace in self._traces))
        self._one_sided = OneSided(self._programs, self.alignment, same_versions)
        self._dims = tuple(self._shapes(rows) for rows in self._rows)
        self._hashes = tuple(self._value_hashes(rows) for rows in self._rows) if exact else ({}, {})
        self._events = tuple(self._count_rows(trace) for trace in self._traces)
        self.parting: Parting | None = None
        self.compared = self.unmeasured = 0
        self._unmatched = [0, 0]
        self._apart = 0
        self.largest = 0.0
        self.steps_done: list[int] = []

    def _shapes(self, rows: Rows) -> dict[int, tuple[int, ...]]:
        found = rows.query(f"SELECT shape, dims FROM shapes WHERE process = {self._process}")
        return {shape: tuple(dims) for shape, dims in found}

    def _value_hashes(self, rows: Rows) -> dict[int, bytes]:
        return dict(rows.query(f'SELECT value, hash FROM "values" WHERE process = {self._process}'))

    def _count_rows(self, trace: Trace) -> dict[int, int]:
        table = trace.rollup("steps").to_pydict()
        rows = zip(table["process"], table["step"], table["rows"], strict=True)
        return {step: count for process, step, count in rows if process == self._process}

    # ---- searching

    def search(self) -> None:
        for steps in self._portions():
            both, alone = self._together(steps)
            if alone is None or self._numbers_only or not self.alignment.is_same_framework:
                self._compare(both)
            else:
                before, side, seq = alone
                self._compare(_Rows(*({k: v[:before] for k, v in rows.items()} for rows in both)))
                self.parting = self.parting or self._only_there(side, seq)
            self.steps_done += steps
            if self.parting is not None:
                return

    def _portions(self) -> Iterator[list[int]]:
        """Gives the steps that both have, as many at once as fit."""
        portion: list[int] = []
        size = 0
        for step in sorted(self._events[0].keys() & self._events[1].keys()):
            portion.append(step)
            size += self._events[0][step]
            if size > _ROWS_AT_ONCE:
                yield portion
                portion, size = [], 0
        if portion:
            yield portion

    def _read(self, side: int, steps: list[int]) -> dict[str, np.ndarray]:
        names = (*_COLUMNS, *MEASURED)
        rows = self._rows[side].arrays(
            f"SELECT {', '.join(names)} FROM tensors WHERE process = {self._process} AND step BETWEEN {steps[0]} AND "
            f"{steps[-1]} AND flags & {int(Flag.EVIDENCE)} = 0"
        )
        rows = self._without_pipelines(side, rows)
        if len(steps) == steps[-1] - steps[0] + 1:
            return rows
        is_shared = np.isin(rows["step"], steps)
        return {name: column[is_shared] for name, column in rows.items()}

    def _without_pipelines(self, side: int, rows: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Leaves out what ran inside datasets: their functions run apart, ahead and in any order, so their rows have no
        place in a step. What comes of them is compared where the program takes it."""
        apart = rows["execution"] < 0
        if not apart.any():
            return rows
        ops = self._programs[side].ops
        computed = [n for n in np.unique(rows["op"][apart]).tolist() if n in ops and ops[n].kind not in _GIVEN]
        apart &= np.isin(rows["op"], computed)
        self._apart += int(apart.sum()) if side == 0 else 0
        return {name: column[~apart] for name, column in rows.items()}

    def _together(self, steps: list[int]) -> tuple[_Rows, tuple[int, int, int] | None]:
        """Finds the rows that both have; and the first row that only one side's program has: how many of the common
        rows come before it, which side, and its event."""
        first, second = self._read(0, steps), self._read(1, steps)
        pairs = self.alignment.pairs
        packed = pack(keys(first, {op: op for op in pairs}), keys(second, {b: a for a, b in pairs.items()}))
        if np.array_equal(packed[0], packed[1]):  # the same events in the same order
            at = other = np.arange(len(packed[0]))
        else:
            _, at, other = np.intersect1d(packed[0], packed[1], assume_unique=True, return_indices=True)
        self._unmatched = [many + len(mine) - len(at) for many, mine in zip(self._unmatched, packed, strict=True)]
        order = np.lexsort((first["seq"][at], first["step"][at]))
        at, other = at[order], other[order]
        both = _Rows({k: v[at] for k, v in first.items()}, {k: v[other] for k, v in second.items()})
        alone = []
        for side, rows in enumerate((first, second)):
            found = first_alone(rows, self._one_sided.ops[side], both[side])
            alone += [(found[0], side, found[1])] if found else []
        return both, min(alone, default=None)

    def _compare(self, both: _Rows) -> None:
        first, second = both
        if not len(both):
            return
        measured = ((first["flags"] & second["flags"]) & int(Flag.NUMBERS)) != 0
        self.unmeasured += int((~measured).sum())
        wrong = self._other_shape(both) | (is_bad(first["flags"]) != is_bad(second["flags"]))
        if not self._numbers_only:
            wrong |= first["dtype"] != second["dtype"]
        for name in BAD_COUNTS:
            wrong |= measured & (first[name] != second[name])
        difference = np.where(measured, differences(first, second), 0.0)
        if self._exact:
            allowed = np.zeros(len(both))
            for name in (*FINITE_COUNTS, *STATISTICS):
                wrong |= measured & ~((first[name] == second[name]) | (np.isnan(first[name]) & np.isnan(second[name])))
            wrong |= self._other_values(both)
        else:
            allowed = self._allowed(both, difference)
            elements = np.maximum(first["elements"], 1)
            for name in FINITE_COUNTS:
                flipped = np.abs(first[name].astype(float) - second[name].astype(float))
                wrong |= measured & (flipped > 2 + _SIGN_SHARE * elements) & (difference > allowed / _UNITS)
            wrong |= difference > allowed
        for at in np.flatnonzero(wrong).tolist():
            if self._is_parting(both, at, float(difference[at]), float(allowed[at])):
                self.compared += at
                self.largest = max([self.largest, *difference[:at][~wrong[:at]].tolist()])
                return
        self.compared += len(both)
        self.largest = max(self.largest, float(difference[~wrong].max(initial=0.0)))

    def _other_shape(self, both: _Rows) -> np.ndarray:
        numbers: dict[tuple[int, ...], int] = {}
        shapes = []
        for rows, dims in zip(both, self._dims, strict=True):
            known = {shape: numbers.setdefault(size, len(numbers)) for shape, size in dims.items()}
            shapes.append(look_up(known, rows["shape"], -1))
        return (both.first["elements"] != both.second["elements"]) | (shapes[0] != shapes[1])

    def _other_values(self, both: _Rows) -> np.ndarray:
        """Finds rows with other bits where both kept the whole tensor: its hash tells apart what no summary does."""
        kept = (both.first["value"] >= 0) & (both.second["value"] >= 0)
        differ = np.zeros(len(both), bool)
        for at in np.flatnonzero(kept).tolist():
            hashes = [self._hashes[s].get(int(both[s]["value"][at])) for s in (0, 1)]
            differ[at] = None not in hashes and hashes[0] != hashes[1]
        return differ

    def _allowed(self, both: _Rows, difference: np.ndarray) -> np.ndarray:
        """How much the numbers may differ, relative to the largest element: some last places, or what earlier
        differences can grow to."""
        epsilon = np.maximum(epsilons(both.first["dtype"]), epsilons(both.second["dtype"]))
        summands = look_up(self._summands, both.first["op"], 1.0)
        local = epsilon * (_UNITS + _PER_SUM * np.sqrt(summands))
        # A row that parts ends the search, so all before it is rounding and may be built upon.
        calm = np.where(difference <= 0.5, difference, 0)
        before = np.maximum.accumulate(np.r_[self.largest, calm[:-1]])
        return np.maximum(local, np.minimum(_GROWTH * before, 0.5))

    @cached_property
    def _summands(self) -> dict[int, float]:
        """Estimates how many numbers an op adds up for each element, by the sizes of its inputs."""
        sizes = {
            op: float(size)
            for op, size in self._rows[0].query(
                f"SELECT op, max(elements) FROM tensors WHERE process = {self._process} GROUP BY op"
            )
        }
        found = {}
        for op in self._programs[0].ops.values():
            inputs = [sizes[number] for number, _ in op.inputs if number in sizes]
            if op.number in sizes and inputs and sizes[op.number]:
                product = np.prod(sorted(inputs)[-2:]) if len(inputs) > 1 else inputs[0] ** 2
                found[op.number] = max(1.0, float(np.sqrt(product / sizes[op.number])))
            elif op.graph < 0:
                found[op.number] = 256.0
        return found

    def _is_parting(self, both: _Rows, at: int, difference: float, allowed: float) -> bool:
        sides = [self._side(side, int(both[side]["seq"][at])) for side in (0, 1)]
        first, second = sides
        row, other = first.row, second.row
        what = what_differs(first, second, difference, self._numbers_only)
        if not what and not self._exact and self._is_cancellation(first, second, allowed):
            return False
        self.parting = Parting(row.step, row.slot, row.is_input, what or "numbers", difference, allowed, first, second)
        return other is not None

    def _only_there(self, side: int, seq: int) -> Parting:
        here = self._side(side, seq)
        row = here.row
        sides = (here, None) if side == 0 else (None, here)
        return Parting(row.step, row.slot, row.is_input, f"only in {'AB'[side]}", 0.0, 0.0, *sides)

    def _is_cancellation(self, first: Side, second: Side, allowed: float) -> bool:
        """Whether large numbers nearly cancel in a sum, which is then no worse than the rounding of its inputs."""
        if first.op.kind not in _SUMS or first.row.min is None or second.row.min is None:
            return False
        makers = ", ".join(str(number) for number, _ in first.op.inputs)
        if not makers:
            return False
        ((largest,),) = self._rows[0].query(
            f"SELECT max(greatest(abs(min), abs(max))) FROM tensors WHERE process = {self._process} "
            f"AND step = {first.row.step} AND op IN ({makers}) AND flags & {int(Flag.NUMBERS)} != 0"
        )
        pairs = [(getattr(first.row, name), getattr(second.row, name)) for name in STATISTICS]
        apart = max(abs(one - other) for one, other in pairs if None not in (one, other))
        return largest is not None and apart <= allowed * largest

    def _side(self, side: int, seq: int) -> Side:
        row = self._rows[side].select(self._process, f"seq = {seq} AND flags & {int(Flag.EVIDENCE)} = 0")[0]
        program = self._programs[side]
        op = program.ops[row.op]
        frame = program.user_frame(op)
        source = program.line_text(frame) if frame else ""
        return Side(row, op, self._dims[side].get(row.shape, ()), frame, source)

    # ---- what was not compared

    def notes(self) -> list[str]:
        notes = []
        for name, mine, theirs in (("A", 0, 1), ("B", 1, 0)):
            steps = sorted(self._events[mine].keys() - self._events[theirs].keys())
            if steps:
                notes.append(
                    f"{len(steps)} step{'s' if len(steps) > 1 else ''} only in {name}, from step {steps[0]} on"
                )
        for name, side, ops in (("A", 0, self.alignment.only_first), ("B", 1, self.alignment.only_second)):
            seen = [op for op in ops if op.observed]
            if seen:
                where = self._programs[side].user_frame(seen[0])
                line = f", the first {seen[0].type}" + (f" at line {where.line}: " if where else "")
                line += self._programs[side].line_text(where) if where else ""
                notes.append(f"{len(seen):,} op{'s' if len(seen) > 1 else ''} only in {name}{line}")
        for name, many in zip("AB", self._unmatched, strict=True):
            if many:
                notes.append(f"{many:,} tensor{'s' if many > 1 else ''} of these steps only in {name}")
        if self._apart:
            notes.append(
                f"{self._apart:,} tensors inside datasets, which run on their own, were compared only at the output"
            )
        if self.unmeasured:
            notes.append(f"{self.unmeasured:,} tensors without numbers: only shape and bad values were compared")
        return notes
