"""Turns records of a ring (see native/record.py) into columns of ``tensors``, ``executions`` and ``ends``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.ma  # Arrow loads it with the first list, which would delay the first events
import pyarrow as pa

from tdbg.model import NUMBERS, DType, Flag
from tdbg.native.record import EXECUTION, FAILED, IDS_OFFSET, MORE, RECORD, TENSOR

_WIDE = np.array([DType.FLOAT64, DType.COMPLEX128, DType.INT64, DType.UINT64], np.uint8)
_PLAIN = ("time", "step", "thread", "execution", "op", "iteration", "dtype", "shape", "elements", "flags", "tensor")

Columns = dict[str, Any]


class Decoder:
    """Keeps what one drain left unfinished (a long input list, a value whose record comes later) for the next.

    ``record``: as record_with gives it; numbers that it lacks are null.
    """

    def __init__(self, record: np.dtype = RECORD) -> None:
        self._record = record
        self._inline_ids = sum(one.name in (record.names or ()) for one in NUMBERS)
        self._unfinished = np.empty(0, record)
        self._values: dict[int, int] = {}

    def decode(self, raw: bytes, values: dict[int, int], is_last: bool = False) -> dict[str, Columns]:
        """``values`` are the ids of kept values by token. The last time, lists are given as far as they came."""
        self._values.update(values)
        records = np.frombuffer(raw, self._record)
        batches: dict[str, Columns] = {}
        tensors = records[records["kind"] == TENSOR]
        if len(tensors):
            batches["tensors"] = self._tensors(tensors)
        calls = records[records["kind"] != TENSOR]
        if len(calls) or len(self._unfinished):
            batches.update(self._calls(calls, is_last))
        return batches

    def forget_values(self, before: int) -> None:
        """Values of events that a ring has overwritten: no record with their tokens comes any more."""
        self._values = {token: value for token, value in self._values.items() if token >= before}

    def _tensors(self, rows: np.ndarray) -> Columns:
        columns: Columns = {"seq": rows["ready"].astype(np.int64) - 1}
        columns.update((name, np.ascontiguousarray(rows[name])) for name in _PLAIN)
        columns["slot"] = rows["slot"].astype(np.int16)
        without = (rows["flags"] & Flag.NUMBERS) == 0
        mask = without if without.any() else None
        narrow = ~np.isin(rows["dtype"], _WIDE)
        for one in NUMBERS[1:]:
            if one.name not in (self._record.names or ()):
                columns[one.name] = pa.nulls(len(rows), pa.int64() if one.is_count else pa.float64())
                continue
            column = np.ascontiguousarray(rows[one.name])
            if one.is_computed:
                # A float32 tensor's mean is not known beyond float32; the zeroed low bytes cost nothing on disk.
                with np.errstate(over="ignore"):
                    column = np.where(narrow, column.astype(np.float32).astype(np.float64), column)
            columns[one.name] = pa.array(column, mask=mask) if mask is not None else column
        columns["value"] = self._value_ids(rows["value"])
        return columns

    def _value_ids(self, tokens: np.ndarray) -> np.ndarray:
        ids = np.full(len(tokens), -1, np.int64)
        for at in np.flatnonzero(tokens):
            ids[at] = self._values.pop(int(tokens[at]), -1)
        return ids

    def _calls(self, calls: np.ndarray, is_last: bool) -> dict[str, Columns]:
        rows = np.concatenate([self._unfinished, calls]) if len(self._unfinished) else calls
        heads, counts, ids = self._join_lists(rows, is_last)
        batches: dict[str, Columns] = {}
        is_begin = heads["kind"] == EXECUTION
        for table, chosen in (("executions", is_begin), ("ends", ~is_begin)):
            if not chosen.any():
                continue
            of = heads[chosen]
            lists = _lists(counts[chosen], ids[np.repeat(chosen, counts)])
            columns: Columns = {name: np.ascontiguousarray(of[name]) for name in ("execution", "time")}
            if table == "executions":
                columns["seq"] = of["ready"].astype(np.int64) - 1
                columns.update((n, np.ascontiguousarray(of[n])) for n in ("step", "thread", "op", "graph"))
                columns["inputs"] = lists
            else:
                columns["failed"] = of["kind"] == FAILED
                columns["outputs"] = lists
            batches[table] = columns
        return batches

    def _join_lists(self, rows: np.ndarray, is_last: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(first record of each call, number of ids of each, all ids in order); ``slot`` holds the whole count."""
        first = IDS_OFFSET // 8
        words = np.ascontiguousarray(rows).view(np.int64).reshape(len(rows), -1)[:, first : first + self._inline_ids]
        here = np.arange(self._inline_ids) < rows["count"][:, None]
        if (rows["kind"] != MORE).all() and (rows["slot"] <= self._inline_ids).all():
            self._unfinished = np.empty(0, self._record)
            return rows, rows["count"].astype(np.int64), words[here]
        whole = self._whole_lists(rows, is_last)
        lists = [np.concatenate([words[at][here[at]] for at in parts]) for parts in whole.values()]
        counts = np.array([len(ids) for ids in lists], np.int64)
        return rows[list(whole)], counts, np.concatenate(lists) if lists else np.empty(0, np.int64)

    def _whole_lists(self, rows: np.ndarray, is_last: bool) -> dict[int, list[int]]:
        """For each call whose list is whole, its records; the others wait for the next time.

        A list that the ring lost the rest of never becomes whole: it is given up once its thread has gone on.
        """
        carried = len(self._unfinished)
        members: dict[int, list[int]] = {}
        head_of: dict[tuple[int, int], int] = {}
        latest: dict[int, int] = {}  # of each thread
        for at, (thread, execution, kind) in enumerate(rows[["thread", "execution", "kind"]].tolist()):
            if kind != MORE:
                head_of[thread, execution] = latest[thread] = at
                members[at] = [at]
            elif (thread, execution) in head_of:  # else the ring lost its beginning
                members[head_of[thread, execution]].append(at)
        whole, waiting = {}, []
        for head, parts in members.items():
            is_whole = rows["count"][parts].sum(dtype=np.int64) >= rows["slot"][head]
            is_lost = head < carried and latest[rows["thread"][head]] != head
            if is_whole or is_lost or is_last:
                whole[head] = parts
            else:
                waiting += parts
        self._unfinished = rows[sorted(waiting)].copy()
        return whole


def _lists(counts: np.ndarray, ids: np.ndarray) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids.astype(np.int64)))
