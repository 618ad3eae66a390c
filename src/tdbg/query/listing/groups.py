"""Groups tensors by step, run, layer or phase, and tells how healthy each group is, a page at a time.

Rollups know most of it. Where a filter is given the rows are aggregated once; of steps without a filter, only those on
the page that somebody looks at are.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tdbg.expressions import FIELDS
from tdbg.model import Phase
from tdbg.query.listing.layer_names import LayerNames
from tdbg.query.listing.op_health import Healths, OpHealth, finite, together
from tdbg.query.listing.tensor_listing import TensorListings, Wanted, positions_of
from tdbg.query.scene.cache import SceneCache

BY = ("step", "run", "layer", "phase")
_MOST_REMEMBERED = 4
_BAD = FIELDS["bad"].sql


class Group(NamedTuple):
    """One group with its health. ``key`` finds its rows: a step, the execution of a run, the name of a layer or of a
    phase."""

    key: int | str
    label: str
    health: OpHealth

    def as_dict(self) -> dict[str, Any]:
        return {"key": str(self.key), "label": self.label, **self.health.as_dict()}


@dataclass(frozen=True)
class Grouped:
    """The groups of a table, in the order of the run or of the program."""

    keys: Sequence[int | str]
    key_of: Callable[[int], int | str | None]  # of an event
    healths: Callable[[Sequence[int | str]], Mapping[int | str, OpHealth]]
    label: Callable[[int | str], str]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {str(key): place for place, key in enumerate(self.keys)}

    def __len__(self) -> int:
        return len(self.keys)

    def page(self, first: int, count: int) -> list[Group]:
        wanted = self.keys[first : first + count]
        healths = self.healths(wanted) if wanted else {}
        return [Group(key, self.label(key), healths.get(key, OpHealth())) for key in wanted]

    def place_of(self, seq: int) -> int | None:
        """Where the group stands that an event is in; None when there is none of it."""
        key = self.key_of(seq)
        return None if key is None else self._places.get(str(key))

    def place_of_key(self, key: str) -> int | None:
        return self._places.get(key)


class Groups:
    """Groups the tensors of one process, until the trace has grown or more is known of harm. The last few answers are
    remembered."""

    def __init__(self, read: SceneCache, listings: TensorListings, healths: Healths) -> None:
        self._read, self._listings, self.healths = read, listings, healths
        self._known: OrderedDict[tuple[str, Wanted], Grouped] = OrderedDict()

    def find(self, by: str, wanted: Wanted) -> Grouped:
        key = (by, wanted)
        if key not in self._known:
            make = {"step": self._by_step, "run": self._by_run, "layer": self._by_layer, "phase": self._by_phase}[by]
            self._known[key] = make(wanted)
        self._known.move_to_end(key)
        while len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return self._known[key]

    def ops_of_layer(self, layer: str) -> tuple[int, ...]:
        return tuple(op for op, name in self._layers.items() if name == layer)

    # ---- steps and runs

    def _by_step(self, wanted: Wanted) -> Grouped:
        def label(step: int | str) -> str:
            return f"step {step:,}" if int(step) >= 0 else "before the first step"

        if not wanted.is_everything:
            found = self._aggregate("t.step", wanted)
            return Grouped(sorted(found), self._cell("step"), lambda _: found, label)
        rollup = self._read.moments.rollup
        columns = (rollup[name].to_pylist() for name in ("step", "first_seq", "last_seq"))
        seqs = {step: (first, last) for step, first, last in sorted(zip(*columns, strict=True))}

        def healths(steps: Sequence[int | str]) -> dict[int | str, OpHealth]:
            bounds = [seqs[int(step)] for step in steps]
            least, greatest = min(first for first, _ in bounds), max(last for _, last in bounds)
            return self._aggregate("t.step", wanted, f"t.seq BETWEEN {least} AND {greatest}")

        return Grouped(list(seqs), self._cell("step"), healths, label)

    def _by_run(self, wanted: Wanted) -> Grouped:
        """Groups by run of a Session; constants belong to no single run and are a group of their own."""
        runs = {run.execution: run.number for run in self._read.moments.runs.values()}
        found = self._aggregate("t.execution", wanted)

        def label(execution: int | str) -> str:
            if execution == -1:
                return "constants"
            return f"run {runs[int(execution)]:,}" if execution in runs else f"execution {execution:,}"

        return Grouped(sorted(found), self._cell("execution"), lambda _: found, label)

    def _cell(self, column: str) -> Callable[[int], int | None]:
        def find(seq: int) -> int | None:
            position = positions_of(self._read.pages, np.array([seq], np.int64))[:1]
            return int(self._read.pages.cells(column, position)[0]) if len(position) else None

        return find

    # ---- layers and phases

    @cached_property
    def _layers(self) -> dict[int, str]:
        return LayerNames(self._read.program).by_op

    def _by_layer(self, wanted: Wanted) -> Grouped:
        return self._by_op(wanted, self._layers)

    def _by_phase(self, wanted: Wanted) -> Grouped:
        ops = self._read.program.ops.values()
        return self._by_op(wanted, {op.number: op.phase.label for op in ops}, [phase.label for phase in Phase])

    def _by_op(self, wanted: Wanted, names: Mapping[int, str], order: Sequence[str] = ()) -> Grouped:
        health_of = self._of_all_rows if wanted.is_everything else self._aggregate("t.op", wanted).get
        parts: dict[int | str, list[OpHealth]] = defaultdict(list)
        for op, name in names.items():
            health = health_of(op)
            if health is not None and health.rows:
                parts[name].append(health)
        found = {name: together(healths) for name, healths in parts.items()}
        keys = [name for name in order or dict.fromkeys(names.values()) if name in found]
        op_of = self._cell("op")

        def key_of(seq: int) -> str | None:
            op = op_of(seq)
            return None if op is None else names.get(op)

        return Grouped(keys, key_of, lambda _: found, str)

    # ---- numbers

    def _of_all_rows(self, op: int) -> OpHealth | None:
        return self._evident[op] if op in self._evident else self.healths.of(op)

    @cached_property
    def _evident(self) -> dict[int | str, OpHealth]:
        """The health of ops beside whose outputs inputs were kept: rollups count these inputs as rows, listings do
        not."""
        ops = np.unique(self._read.pages.cells("op", self._read.moments.evidence)).tolist()
        return {op: OpHealth() for op in ops} | self._aggregate("t.op", Wanted(ops=tuple(ops))) if ops else {}

    def _aggregate(self, key: str, wanted: Wanted, also: str = "true") -> dict[int | str, OpHealth]:
        ops = ", ".join(map(str, sorted(self.healths.harmless)))
        is_harmless = f"{_BAD} AND t.op IN ({ops})" if ops else "false"
        values = ", ".join(
            [
                "count(*)",
                f"count(*) FILTER ({_BAD})",
                "coalesce(sum(t.nan), 0)::BIGINT",
                "coalesce(sum(t.neg_inf + t.pos_inf), 0)::BIGINT",
                f"coalesce(min(t.seq) FILTER ({_BAD} AND NOT ({is_harmless})), min(t.seq) FILTER ({_BAD}), -1)",
                f"min({FIELDS['min'].sql})",
                f"max({FIELDS['max'].sql})",
                f"count(*) FILTER ({is_harmless})",
            ]
        )
        rows = self._listings.aggregate(key, values, wanted, also)
        return {
            group: OpHealth(rows, bad, nan, inf, first, finite(least), finite(greatest), 0, benign)
            for group, rows, bad, nan, inf, first, least, greatest, benign in rows
        }
