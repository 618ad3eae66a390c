"""Tells for each op how many of its tensors were bad and how large their elements were, from the rollups.

A verdict tells which ops' bad values did no harm. They are counted as bad too, and once more as benign.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from tdbg.model import Flag
from tdbg.query.scene.cache import SceneCache


class OpHealth(NamedTuple):
    """How healthy the outputs of an op are, or those of several ops together. ``least`` and ``greatest`` are of the
    finite elements."""

    rows: int = 0
    bad: int = 0
    nan: int = 0
    inf: int = 0
    first_bad_seq: int = -1
    least: float | None = None
    greatest: float | None = None
    outputs: int = 0
    benign: int = 0

    @property
    def harmful(self) -> int:
        return self.bad - self.benign

    def as_dict(self) -> dict[str, Any]:
        return {
            "rows": self.rows,
            "bad": self.bad,
            "nan": self.nan,
            "inf": self.inf,
            "first_bad_seq": self.first_bad_seq,
            "min": self.least,
            "max": self.greatest,
            "tensors": self.outputs,
            "benign": self.benign,
        }


NOTHING = OpHealth()


def together(parts: Iterable[OpHealth]) -> OpHealth:
    known = list(parts)
    if not known:
        return NOTHING
    firsts = first_bad(known)
    return OpHealth(
        sum(one.rows for one in known),
        sum(one.bad for one in known),
        sum(one.nan for one in known),
        sum(one.inf for one in known),
        min(firsts, default=-1),
        min((one.least for one in known if one.least is not None), default=None),
        max((one.greatest for one in known if one.greatest is not None), default=None),
        sum(one.outputs for one in known),
        sum(one.benign for one in known),
    )


def first_bad(parts: Iterable[OpHealth]) -> list[int]:
    """Finds the first bad event of each that has one; where some did harm, of these alone."""
    bad = [one for one in parts if one.first_bad_seq >= 0]
    return [one.first_bad_seq for one in [one for one in bad if one.harmful] or bad]


class Healths:
    """The health of each op of a process, until the trace has grown. ``harmless``: ops whose bad values did no harm, as
    far as is known."""

    def __init__(self, read: SceneCache, harmless: frozenset[int] = frozenset()) -> None:
        self._read, self.harmless = read, harmless

    def of(self, op: int) -> OpHealth:
        return self._by_op.get(op, NOTHING)

    def of_output(self, op: int, slot: int) -> OpHealth:
        return self._by_output.get((op, slot), NOTHING)

    @cached_property
    def _by_output(self) -> dict[tuple[int, int], OpHealth]:
        names = ("op", "slot", "rows", "bad", "nan", "neg_inf", "pos_inf", "first_bad_seq", "min", "max")
        columns = [self._read.rollup[name].to_pylist() for name in names]
        return {
            (op, slot): OpHealth(
                rows, bad, nan, neg + pos, first, finite(least), finite(greatest), 1, bad if op in self.harmless else 0
            )
            for op, slot, rows, bad, nan, neg, pos, first, least, greatest in zip(*columns, strict=True)
        }

    @cached_property
    def _by_op(self) -> dict[int, OpHealth]:
        found: dict[int, list[OpHealth]] = {}
        for (op, _), health in self._by_output.items():
            found.setdefault(op, []).append(health)
        return {op: parts[0] if len(parts) == 1 else together(parts) for op, parts in found.items()}

    @cached_property
    def norms(self) -> dict[int, float]:
        """The norm of each op's outputs, on average over the run: the root of the mean square norm. Reads every row."""
        squares = "(elements - nan - neg_inf - pos_inf) * (mean * mean + std * std)"
        return dict(
            self._read.rows.query(
                f"SELECT op, sqrt(avg({squares}) FILTER (isfinite({squares}))) AS norm FROM tensors "
                f"WHERE process = {self._read.process} AND flags & {int(Flag.EVIDENCE)} = 0 "
                "GROUP BY op HAVING norm IS NOT NULL"
            )
        )


def finite(value: float) -> float | None:
    return float(value) if value is not None and np.isfinite(value) else None
