"""Selects the rows that pass a Selection, of one moment or of the whole trace, and sorts them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

import numpy as np
import pyarrow as pa

from tdbg import expressions
from tdbg.errors import TdbgError
from tdbg.model import Flag, is_bad, is_bad_output
from tdbg.nearest import did_you_mean
from tdbg.query.scene.ops import Ops
from tdbg.query.scene.tensors import sizes_of
from tdbg.query.trace.rows import Rows
from tdbg.scene import Selection, TensorFilter
from tdbg.store.pages import Pages

SORT_KEYS = ("timestamp", "dump_size", "op_type", "tensor_name")


def has_inf_or_nan(seen: object, array: object) -> bool:
    """Whether a tensor holds a NaN or an infinity. A trace knows without looking at the array."""
    del seen
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    if kind not in "fcV" or not kind:
        return False
    try:
        return not bool(np.isfinite(array).all())  # type: ignore[call-overload]
    except TypeError:
        return False


Also = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]  # of ops, slots and flags of rows


class Rowset:
    """Rows by position, in the order of events. ``positions`` None: all rows of the trace but evidence."""

    def __init__(self, pages: Pages, positions: np.ndarray | None, evidence: np.ndarray) -> None:
        self.pages, self.given, self._evidence = pages, positions, evidence
        self._is_plain = False  # the rows are all there are, as they come

    @cached_property
    def all(self) -> np.ndarray:
        if self.given is not None:
            return self.given
        seqs = self.pages.column("seq")
        self._is_plain = bool(np.all(seqs[1:] >= seqs[:-1])) and not len(self._evidence)
        order = np.arange(len(seqs)) if np.all(seqs[1:] >= seqs[:-1]) else np.argsort(seqs, kind="stable")
        if not len(self._evidence):
            return order
        is_wanted = np.ones(len(seqs), bool)
        is_wanted[self._evidence] = False
        return order[is_wanted[order]]

    def cells(self, name: str, positions: np.ndarray) -> np.ndarray:
        """Reads a column of some of the rows."""
        if positions is self.__dict__.get("all") and self._is_plain:
            return self.pages.column(name)
        return self.pages.cells(name, positions)

    def __len__(self) -> int:
        return len(self.pages) - len(self._evidence) if self.given is None else len(self.given)

    def of_ops(self, passes: np.ndarray, ops: Ops, also: Also | None = None) -> np.ndarray:
        """Finds the rows of ops that pass (by number, as ``Ops.matching`` gives them) and for which ``also`` holds."""
        columns = ("op", "slot", "flags") if also is not None else ("op",)

        def places(cells: Mapping[str, np.ndarray]) -> np.ndarray:
            here = np.flatnonzero(passes[ops.known(cells["op"])])
            return here if also is None or not len(here) else here[also(*(cells[name][here] for name in columns))]

        if self.given is not None:
            return self.given[places({name: self.pages.cells(name, self.given) for name in columns})]

        def in_order(rows: pa.Table) -> np.ndarray:
            here = places({name: rows[name].to_numpy() for name in columns})
            return here[np.argsort(rows["seq"].to_numpy()[here], kind="stable")]

        parts = self.pages.map(in_order, (*columns, "seq"))
        starts = [page.first for page in self.pages.pages]
        found = np.concatenate([np.empty(0, np.int64), *(at + here for at, here in zip(starts, parts, strict=True))])
        return found[~np.isin(found, self._evidence)] if len(self._evidence) else found

    def bad(self, first_seq: int) -> np.ndarray:
        """Finds the rows that hold a NaN or an infinity, given the first such event."""
        if first_seq < 0:
            return np.empty(0, np.int64)
        if self.given is not None:
            return self.given[is_bad(self.pages.cells("flags", self.given))]
        found = [np.empty(0, np.int64)]
        for number in self.pages.with_seq(first_seq, 1 << 62):
            flags = self.pages.part_of_column("flags", number)
            here = np.flatnonzero(is_bad_output(flags))
            order = np.argsort(self.pages.part_of_column("seq", number)[here], kind="stable")
            found.append(here[order] + self.pages.pages[number].first)
        return np.concatenate(found)


Tester = Callable[[np.ndarray, TensorFilter, str, list[str]], np.ndarray]  # of values, by a user's function


class Selector:
    """Selects rows of one process."""

    def __init__(self, ops: Ops, rows: Callable[[], Rows], process: int, first_bad_seq: int, test: Tester) -> None:
        self._ops, self._rows, self._process = ops, rows, process
        self._first_bad_seq, self._test = first_bad_seq, test

    def select(
        self, rowset: Rowset, selection: Selection, filters: Mapping[str, TensorFilter], notes: list[str]
    ) -> np.ndarray | None:
        """Gives the positions of the rows that pass; None: all rows of the trace, as they come."""
        if selection.sort_by not in SORT_KEYS:
            raise TdbgError(f"tensors cannot be sorted by {selection.sort_by!r}, only by {', '.join(SORT_KEYS)}")
        # Of the nodes that -fenn names only the filter is not to see the tensors; without a filter it means nothing.
        exclude = selection.exclude_nodes if selection.filter else ""
        passing = self._ops.matching(selection.node_pattern, selection.op_pattern, exclude)
        wants_bad = selection.filter and filters.get(selection.filter) is has_inf_or_nan
        if passing is None and not selection.filter and selection.sort_by == "timestamp":
            return rowset.given
        if wants_bad:
            found = rowset.bad(self._first_bad_seq)
            found = found[passing[self._ops.known(rowset.cells("op", found))]] if passing is not None else found
        else:
            found = rowset.of_ops(passing, self._ops) if passing is not None else rowset.all
        if selection.filter and not wants_bad:
            found = self._filtered(rowset, found, selection.filter, filters, notes)
        return found if selection.sort_by == "timestamp" else self._sorted(rowset, found, selection.sort_by)

    def _filtered(
        self, rowset: Rowset, found: np.ndarray, text: str, filters: Mapping[str, TensorFilter], notes: list[str]
    ) -> np.ndarray:
        function = filters.get(text)
        if function is not None:
            return self._test(found, function, text, notes)
        if text.isidentifier() and text not in expressions.FIELDS:
            near = did_you_mean(text, filters)
            raise TdbgError(f"there is no filter {text!r}; " + (near or f"there are {', '.join(filters)}"))
        answer = expressions.parse(text).sql({"name": "shown.name", "op": "shown.type"})
        if not len(found):
            return found
        seqs = rowset.cells("seq", found)
        sql = (
            "WITH shown AS (SELECT unnest(?)::INTEGER AS op, unnest(?) AS name, unnest(?) AS type) "
            "SELECT t.seq FROM tensors t JOIN ops o USING (process, op) JOIN shown USING (op) "
            f"WHERE t.process = {self._process} AND t.seq BETWEEN {seqs.min()} AND {seqs.max()} AND {answer.sql} "
            f"AND t.flags & {int(Flag.EVIDENCE)} = 0"
        )
        names = [self._ops.numbers.tolist(), self._ops.shown, self._ops.types]
        wanted = self._rows().numbers(sql, [*names, *answer.parameters])
        return found[np.isin(seqs, wanted)]

    def _sorted(self, rowset: Rowset, found: np.ndarray, sort_by: str) -> np.ndarray:
        if sort_by == "dump_size":
            keys = sizes_of(rowset.cells("elements", found), rowset.cells("dtype", found))
        else:
            texts = self._ops.types if sort_by == "op_type" else self._ops.shown
            keys = self._ranks(texts)[self._ops.known(rowset.cells("op", found))]
            if sort_by == "tensor_name":
                slots = rowset.cells("slot", found).astype(np.int64)
                keys = keys * (int(slots.max(initial=0)) + 1) + slots
        return found[np.argsort(_small(keys), kind="stable")]

    def _ranks(self, texts: list[str]) -> np.ndarray:
        """Ranks the ops by a text of theirs. The array is by the number of an op; its last cell stands for -1."""
        order = {text: rank for rank, text in enumerate(sorted(set(texts)))}
        ranks = np.zeros(self._ops.size, np.int64)
        ranks[self._ops.numbers] = [order[text] for text in texts]
        return ranks


def _small(keys: np.ndarray) -> np.ndarray:
    """Gives the same order in numbers of 16 bits where that is possible: those are sorted much faster."""
    if not len(keys):
        return keys
    least, greatest = int(keys.min()), int(keys.max())
    if greatest - least > 0xFFFF:
        encoded = pa.array(keys).dictionary_encode()
        distinct = encoded.dictionary.to_numpy()
        if len(distinct) > 0xFFFF:
            return keys
        ranks = np.empty(len(distinct), np.uint16)
        ranks[np.argsort(distinct)] = np.arange(len(distinct))
        return ranks[encoded.indices.to_numpy()]
    return (keys - least).astype(np.uint16)
