"""Finds the tensors that pass a filter, or belong to a step, an op or a layer, and gives them by place in any order.

Of ten million rows only the positions are kept: 4 bytes each, and none at all where everything is listed as it came.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from tdbg import expressions
from tdbg.errors import TdbgError
from tdbg.model import NAMES, Flag
from tdbg.query.listing.sorted_order import Part, SortedOrder
from tdbg.query.scene.cache import SceneCache
from tdbg.query.scene.tensors import Chosen, Everything, Order
from tdbg.store.pages import Pages

SORT_KEYS = ("seq", "time", "step", "execution", "iteration", *NAMES, "inf", "max_abs", "name", "type", "phase")
_MOST_REMEMBERED = 4
_MOST_POSITIONS = 12_000_000  # of all listings that are remembered


@dataclass(frozen=True, slots=True)
class Wanted:
    """Says which tensors are listed; None means all. ``run`` is a run of a Session."""

    where: str = ""
    step: int | None = None
    run: int | None = None
    execution: int | None = None
    graph: int | None = None
    op: int | None = None
    ops: tuple[int, ...] | None = None  # any of them
    sort: str = "seq"
    descending: bool = False

    @property
    def is_everything(self) -> bool:
        return self == Wanted(descending=self.descending)


class TensorListing:
    """Tensors by place, which counts from 0 in the order that was asked for."""

    def __init__(self, pages: Pages, order: Order, is_reversed: bool) -> None:
        self._pages, self._order, self._is_reversed = pages, order, is_reversed

    def __len__(self) -> int:
        return len(self._order)

    def positions(self, first: int, count: int) -> np.ndarray:
        places = np.arange(max(0, first), max(0, min(len(self), first + count)))
        if self._is_reversed:
            places = len(self) - 1 - places
        return self._order.positions(places) if len(places) else np.empty(0, np.int64)

    def place_of(self, seq: int) -> int | None:
        """Finds where an event stands; None when it is not listed."""
        found = positions_of(self._pages, np.array([seq], np.int64))
        for position in found.tolist():
            place = self._order.place_of(position)
            if place is not None:
                return len(self) - 1 - place if self._is_reversed else place
        return None

    def bad_places(self, buckets: int, bad: np.ndarray) -> list[int]:
        """Counts how many of the listing hold bad values, in that many equal parts of it; ``bad`` are those of the
        trace."""
        if not len(self) or not len(bad):
            return [0] * buckets
        places = self._order.places_of(bad)
        if self._is_reversed:
            places = len(self) - 1 - places
        return np.bincount(places * buckets // len(self), minlength=buckets).tolist()


class TensorListings:
    """Lists the tensors of one process, until the trace has grown; the last few listings are remembered."""

    def __init__(self, read: SceneCache) -> None:
        self._read, self._pages = read, read.pages
        self._known: OrderedDict[Wanted, TensorListing] = OrderedDict()
        self._ranks_of: dict[str, np.ndarray] = {}

    def find(self, wanted: Wanted) -> TensorListing:
        if wanted.sort not in SORT_KEYS:
            raise TdbgError(f"tensors cannot be sorted by {wanted.sort!r}, only by {', '.join(SORT_KEYS)}")
        wanted = replace(wanted, where=wanted.where.strip())
        if wanted not in self._known:
            self._known[wanted] = self._make(wanted)
        self._known.move_to_end(wanted)
        while len(self._known) > 1 and (
            len(self._known) > _MOST_REMEMBERED or sum(map(len, self._known.values())) > _MOST_POSITIONS
        ):
            self._known.popitem(last=False)
        return self._known[wanted]

    @cached_property
    def bad(self) -> np.ndarray:
        """Positions of all that hold a NaN or an infinity."""
        return self._read.rowset(None).bad(self._read.moments.first_bad_seq)

    def harmful(self, harmless: frozenset[int]) -> np.ndarray:
        """Positions of all that hold a NaN or an infinity, but for ops whose bad values did no harm."""
        if not harmless or not len(self.bad):
            return self.bad
        return self.bad[~np.isin(self._pages.scan("op", self.bad), list(harmless))]

    def _make(self, wanted: Wanted) -> TensorListing:
        everything = Everything(self._pages, self._read.moments.evidence)
        if wanted.is_everything:
            return TensorListing(self._pages, everything, wanted.descending)
        if replace(wanted, sort="seq").is_everything:
            parts = partial(self._keyed_by_page, everything, wanted)
            return TensorListing(self._pages, SortedOrder(len(everything), parts), False)
        found = self._found(wanted)
        if wanted.sort != "seq":
            return TensorListing(self._pages, SortedOrder(len(found), partial(self._keyed, found, wanted)), False)
        return TensorListing(self._pages, Chosen(found), wanted.descending)

    def _found(self, wanted: Wanted) -> np.ndarray:
        of_moment = self._of_moment(wanted)
        conditions, parameters = self._conditions(wanted)
        if not conditions:
            assert of_moment is not None, "everything is listed without looking for it"
            return of_moment.astype(np.int32)
        if of_moment is not None:
            if not len(of_moment):
                return of_moment.astype(np.int32)
            seqs = self._pages.cells("seq", of_moment)
            conditions.append(f"t.seq BETWEEN {int(seqs.min())} AND {int(seqs.max())}")
        with _explained():
            found = self._in_order(
                self._read.rows.number_batches(f"SELECT t.seq {self._source(conditions)}", parameters)
            )
        return found if of_moment is None else found[np.isin(found, of_moment)]

    def _in_order(self, batches: Iterator[np.ndarray]) -> np.ndarray:
        """Puts events that come in any order into that of the listing, as positions; while they are looked up a row is
        one byte."""
        is_found = np.zeros(len(self._pages), bool)
        for seqs in batches:
            is_found[positions_of(self._pages, np.sort(seqs))] = True
        found, done = np.empty(np.count_nonzero(is_found), np.int32), 0
        everything = Everything(self._pages, self._read.moments.evidence)
        for number, page in enumerate(self._pages.pages):
            if is_found[page.first : page.first + page.rows].any():
                order = everything.of_page(number)
                here = order[is_found[order]]
                found[done : done + len(here)] = here
                done += len(here)
        return found

    def aggregate(self, key: str, values: str, wanted: Wanted, also: str = "true") -> list[tuple]:
        """Works out values, which are SQL, over the rows that are meant, for each value of a key; the moment is not
        looked at."""
        conditions, parameters = self._conditions(wanted)
        source = self._source([*conditions, also])
        with _explained():
            return self._read.rows.query(f"SELECT {key}, {values} {source} GROUP BY 1", parameters)

    def _source(self, conditions: list[str]) -> str:
        names_ops = any("o." in condition for condition in conditions)
        tables = "tensors t JOIN ops o USING (process, op)" if names_ops else "tensors t"
        always = f"t.process = {self._read.process} AND t.flags & {int(Flag.EVIDENCE)} = 0"
        return f"FROM {tables} WHERE {' AND '.join([always, *conditions])}"

    def _of_moment(self, wanted: Wanted) -> np.ndarray | None:
        """Gives the rows of a step or run, where they are known without looking for them."""
        moments = self._read.moments
        if wanted.run is not None:
            if wanted.run not in moments.runs:
                raise TdbgError(f"there is no run {wanted.run} in this trace")
            return moments.positions(wanted.run)
        if wanted.step is not None and wanted.step not in self._seqs_of_steps:
            raise TdbgError(f"there is no step {wanted.step} in this trace")
        return moments.positions(wanted.step) if wanted.step is not None and moments.kind == "step" else None

    @cached_property
    def _seqs_of_steps(self) -> dict[int, tuple[int, int]]:
        """The first and the last event of each step."""
        columns = (self._read.moments.rollup[name].to_pylist() for name in ("step", "first_seq", "last_seq"))
        return {step: (first, last) for step, first, last in zip(*columns, strict=True)}

    def _between(self, first: float, last: float) -> str:
        """Writes SQL that lets the engine pass over rows that are of no step of a range."""
        known = [seqs for step, seqs in self._seqs_of_steps.items() if first <= step <= last]
        least, greatest = (min(known)[0], max(seqs[1] for seqs in known)) if known else (1, 0)
        return f"t.seq BETWEEN {least} AND {greatest}"

    def _conditions(self, wanted: Wanted) -> tuple[list[str], list[Any]]:
        conditions, parameters = [], []
        if wanted.where:
            expression = expressions.parse(wanted.where)
            answer = expression.sql()
            conditions.append(f"({answer.sql})")
            parameters += answer.parameters
            first, last = expression.bounds("step")
            if (first, last) != (-math.inf, math.inf):
                conditions.append(self._between(first, last))
        if wanted.step is not None and self._read.moments.kind != "step":
            conditions += [f"t.step = {int(wanted.step)}", self._between(wanted.step, wanted.step)]
        if wanted.execution is not None:
            began = self._read.rows.query(
                f"SELECT min(seq) FROM executions WHERE process = {self._read.process} AND execution = ?",
                [wanted.execution],
            )[0][0]
            conditions.append(f"t.execution = {int(wanted.execution)} AND t.seq >= {int(began or 0)}")
        if wanted.graph is not None:
            conditions.append(f"o.graph = {int(wanted.graph)}")
        if wanted.op is not None:
            conditions.append(f"t.op = {int(wanted.op)}")
        if wanted.ops is not None:
            conditions.append("t.op IN (SELECT unnest(?::INTEGER[]))")
            parameters.append(list(wanted.ops))
        return conditions, parameters

    # ---- order

    def _keyed(self, found: np.ndarray, wanted: Wanted) -> Iterator[Part]:
        """Gives rows with their keys. What has no number comes last, in both directions; equal ones in the order of
        events."""
        ends = np.flatnonzero(np.diff(self._pages.pages_at(found))) + 1
        for positions in np.split(found, ends[3::4]) if len(found) else ():
            keys = self._keys(partial(self._pages.scan, positions=positions), wanted.sort)
            yield positions, -keys if wanted.descending else keys

    def _keyed_by_page(self, everything: Everything, wanted: Wanted) -> Iterator[Part]:
        """Does the same for all rows, a page at a time."""
        for number, page in enumerate(self._pages.pages):
            positions = everything.of_page(number)
            keys = self._keys(partial(self._pages.part_of_column, number=number), wanted.sort)
            keys = keys[positions - page.first]
            yield positions.astype(np.int32), -keys if wanted.descending else keys

    def _keys(self, cells: Callable[[str], np.ndarray], sort: str) -> np.ndarray:
        if sort in ("name", "type", "phase"):
            return self._ranks(sort)[cells("op")]
        if sort == "inf":
            return _number(cells("neg_inf")) + _number(cells("pos_inf"))
        if sort == "max_abs":
            keys = np.abs(_number(cells("min")))
            return np.fmax(keys, np.abs(_number(cells("max"))), out=keys)
        return _number(cells(sort))

    def _ranks(self, sort: str) -> np.ndarray:
        """Ranks the ops by a text of theirs. The array is by the number of an op; its last cell stands for -1."""
        if sort in self._ranks_of:
            return self._ranks_of[sort]
        ops = self._read.ops
        texts = ops.shown if sort == "name" else ops.types if sort == "type" else ops.phases.tolist()
        order = {text: rank for rank, text in enumerate(sorted(set(texts)))}
        ranks = np.zeros(int(ops.numbers.max(initial=-1)) + 2)
        ranks[ops.numbers] = [order[text] for text in texts]
        self._ranks_of[sort] = ranks
        return ranks


@contextmanager
def _explained() -> Iterator[None]:
    import duckdb  # only here: a listing without conditions is there before it would be loaded

    try:
        yield
    except duckdb.Error as error:
        raise TdbgError(f"this filter cannot be applied to a trace: {str(error).partition(chr(10))[0]}") from error


def _number(column: np.ndarray) -> np.ndarray:
    return column.astype(np.float64)


def positions_of(pages: Pages, seqs: np.ndarray) -> np.ndarray:
    """Finds the positions of events, which are in order, in the same order; evidence is left out."""
    found = []
    for number, page in enumerate(pages.pages):
        first, last = np.searchsorted(seqs, [page.least_seq, page.greatest_seq + 1])
        if first == last:
            continue
        here = pages.part_of_column("seq", number)
        chosen = np.flatnonzero(np.isin(here, seqs[first:last]))
        if page.flags >= int(Flag.EVIDENCE):
            chosen = chosen[(pages.part_of_column("flags", number)[chosen] & int(Flag.EVIDENCE)) == 0]
        order = np.argsort(here[chosen], kind="stable")
        found.append((chosen[order] + page.first).astype(np.int32))
    return np.concatenate(found) if found else np.empty(0, np.int32)
