"""Draws numbers over training steps as curves: gradients, weights, the loss, one tensor's history. SQL aggregates them.

Norms are not recorded; they follow from what is: n·(mean² + std²) is the sum of the squares of a tensor's n finite
elements. Where a trace has more steps than ``MOST_POINTS``, neighbouring steps share a point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from tdbg.model import BAD_ELEMENTS_SQL, Flag, Phase
from tdbg.query.listing.layer_names import LayerNames, place_name
from tdbg.query.over_time.histories import Output, histories
from tdbg.query.rules.losses import Loss, find_losses
from tdbg.query.trace.program import Op, Program
from tdbg.query.trace.rows import Rows
from tdbg.store.reader import Trace
from tdbg.vocabulary import Kind

MOST_POINTS = 240
_MOST_ROWS = 1_000_000  # of a portion that is aggregated at once
_OUTPUT = f"flags & {int(Flag.EVIDENCE)} = 0"
_SQUARES = "(elements - nan - neg_inf - pos_inf) * (mean * mean + std * std)"
_IS_MEASURED = f"nan + neg_inf + pos_inf < elements AND isfinite({_SQUARES})"
_GRADIENT, _WEIGHT = 0, 1


@dataclass(frozen=True, slots=True)
class Point:
    """One step, or a few neighbouring ones. ``low``, ``high``: of the finite elements; None: there were none, or the
    value is a norm."""

    step: int
    value: float | None
    low: float | None
    high: float | None
    bad: int  # elements that are NaN or infinite


@dataclass(frozen=True, slots=True)
class Curve:
    """Points of one thing under one name."""

    name: str
    points: tuple[Point, ...]


class Curves:
    """The curves of one process of a trace. The bad values of ``harmless`` ops, which did no harm, are not counted in
    gradients and weights."""

    def __init__(
        self,
        trace: Trace,
        process: int,
        program: Program | None = None,
        rows: Rows | None = None,
        harmless: frozenset[int] = frozenset(),
    ) -> None:
        self._rows, self._harmless = rows or Rows(trace), harmless
        self._process, self._program = process, program or Program(trace, process)
        rollup = trace.rollup("steps")
        steps = [
            step
            for step, of in zip(*(rollup[name].to_pylist() for name in ("step", "process")), strict=True)
            if of == process
        ]
        self._names: list[str] = []
        self._layers = LayerNames(self._program)
        self._first, self._last = min(steps, default=0), max(steps, default=0)
        self._tensors = sum(rollup["rows"].to_pylist())
        self._width = max(1, -(-(self._last - self._first + 1) // MOST_POINTS))

    @property
    def steps_per_point(self) -> int:
        return self._width

    def histories(self, wanted: Sequence[tuple[int, int, str]], loss: Loss | None = None) -> list[Curve]:
        """Reads outputs (op, slot, name), and the loss behind them, in one scan: mean as the value, least and greatest
        element, how many were bad."""
        if loss is not None:
            wanted = [*wanted, (loss.ops[0], loss.slot, loss.name)]
        outputs = [Output(op, slot) for op, slot, _ in wanted]
        same = loss.ops if loss is not None else ()
        found = histories(self._rows, self._process, outputs, self._first, self._last, MOST_POINTS, same)
        names = [name or self._program.ops[op].label for op, _, name in wanted]
        return [Curve(name, self._points(found[output])) for name, output in zip(names, outputs, strict=True)]

    def _points(self, columns: dict[str, list[Any]]) -> tuple[Point, ...]:
        wanted = (columns[name] for name in ("first", "mean", "min", "max", "nan", "inf"))
        points = []
        for step, mean, low, high, nan, inf in zip(*wanted, strict=True):
            begin = self._first + (step - self._first) // self._width * self._width
            points.append(Point(begin, mean, low, high, (nan or 0) + (inf or 0)))
        return tuple(points)

    def gradient_by_layer(self) -> list[Curve]:
        """Gives the norm over all tensors of the gradient that belong to a layer; the layers in forward order."""
        return self._by_label(_GRADIENT)

    def weights_by_step(self) -> list[Curve]:
        """Gives the norm of each variable as it was read, the largest first; without scalars (counters, sums of
        metrics) where there are others."""
        return self._by_label(_WEIGHT)

    def loss(self) -> Curve | None:
        """Draws what the gradient starts from."""
        found = self.the_loss()
        return self.histories([], found)[0] if found is not None else None

    def the_loss(self) -> Loss | None:
        """Finds it; of several the one that was seen in most steps."""
        found = find_losses(self._rows, self._program, self._process)
        return found[0] if found else None

    # ---- one scan for gradients and weights

    @property
    def _at(self) -> str:
        return f"{self._first} + (step - {self._first}) // {self._width} * {self._width}"

    def _by_label(self, kind: int) -> list[Curve]:
        found: dict[str, list[Point]] = {}
        for of, label, *point in self._labelled:
            if of == kind:
                found.setdefault(self._names[label], []).append(Point(*point))
        return [Curve(name, tuple(points)) for name, points in found.items()]

    @cached_property
    def _labelled(self) -> list[tuple]:
        labels = {op.number: label for op in self._program.ops.values() if (label := self._label(op)) is not None}
        if not labels:
            return []
        numbers = {label: number for number, label in enumerate(dict.fromkeys(labels.values()))}
        self._names = [name for _, name in numbers]
        given = [list(labels), [kind for kind, _ in labels.values()], [numbers[label] for label in labels.values()]]
        found = [row for first, last in self._portions() for row in self._measured(first, last, given)]
        places: dict[tuple[int, int], tuple[int, int]] = {}
        for kind, label, *_, op, elements in found:
            known = places.get((kind, label), (op, elements))
            places[kind, label] = min(op, known[0]), max(elements, known[1])
        has_others = any(elements > 1 for (kind, _), (_, elements) in places.items() if kind == _WEIGHT)

        def order(row: tuple) -> tuple:
            op, elements = places[row[0], row[1]]
            return row[0], -elements if row[0] == _WEIGHT else op, row[1], row[2]

        is_shown = {key: key[0] == _GRADIENT or place[1] > 1 or not has_others for key, place in places.items()}
        return [row[:-2] for row in sorted(found, key=order) if is_shown[row[0], row[1]]]

    def _portions(self) -> list[tuple[int, int]]:
        """Divides the steps into ranges of whole points: a portion at a time takes little memory."""
        points = -(-(self._last - self._first + 1) // self._width)
        each = max(1, points * _MOST_ROWS // max(1, self._tensors)) * self._width
        return [(first, first + each - 1) for first in range(self._first, self._last + 1, each)]

    def _measured(self, first: int, last: int, labels: list[list]) -> list[tuple]:
        """Measures some steps: rows as points take them, each with an op and a size of what it stands for."""
        harmless = ", ".join(map(str, sorted(self._harmless)))
        is_counted = f"op NOT IN ({harmless})" if harmless else "true"
        # A weight may be read several times in a step: any read will do. A layer has several gradient tensors.
        return self._rows.query(
            f"""WITH labels AS (SELECT unnest(?)::INTEGER AS op, unnest(?)::INTEGER AS kind, unnest(?) AS label),
            per_step AS (
                SELECT kind, label, step, min(op) AS op, max(elements) AS elements,
                    CASE WHEN kind = {_WEIGHT} THEN max({_SQUARES}) FILTER ({_IS_MEASURED})
                         ELSE sum({_SQUARES}) FILTER ({_IS_MEASURED}) END AS squares,
                    coalesce(sum({BAD_ELEMENTS_SQL}) FILTER ({is_counted}), 0)::BIGINT AS bad
                FROM tensors JOIN labels USING (op)
                WHERE process = {self._process} AND step BETWEEN {first} AND {last} AND {_OUTPUT} GROUP BY 1, 2, 3)
            SELECT kind, label, {self._at}, sqrt(max(squares)), NULL, NULL, sum(bad)::BIGINT, min(op), max(elements)
            FROM per_step GROUP BY 1, 2, 3""",
            labels,
        )

    def _label(self, op: Op) -> tuple[int, str] | None:
        if op.kind == Kind.READ and op.phase != Phase.UPDATE:
            return _WEIGHT, self._weight_name(op)
        if op.phase != Phase.BACKWARD or op.kind == Kind.READ:
            return None
        if op.forward not in self._program.ops:
            return None
        return _GRADIENT, self._layers.of(op)

    def _weight_name(self, read: Op) -> str:
        """Gives the variable's name, without the scopes that a framework opens for reading and casting it."""
        name = self._program.variable_of(read)
        for op_type in (read.type, *self._casts):
            name = name.removesuffix(f"/{op_type}")
        if name in (read.type, ""):
            return place_name(self._program, read)
        return name if "/" in name or read.graph < 0 else f"{name}, {place_name(self._program, read)}"

    @cached_property
    def _casts(self) -> list[str]:
        """What the framework calls an op that casts."""
        return sorted({op.type for op in self._program.ops.values() if op.kind == Kind.CAST})
