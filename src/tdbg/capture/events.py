"""Raw records of the native ring in, columns of the trace's tables out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.model import DType, Flag

TENSOR, EXECUTION, MORE, END, FAILED = range(5)

# native/events.h, tdbg_record
RECORD = np.dtype(
    [
        ("ready", "<u8"), ("time", "<i8"), ("execution", "<i8"), ("tensor", "<i8"),
        ("op", "<i4"), ("step", "<i4"), ("iteration", "<i4"), ("thread", "<i4"),
        ("shape", "<i4"), ("slot", "<u2"), ("dtype", "u1"), ("kind", "u1"),
        ("flags", "<u2"), ("count", "<u2"), ("graph", "<i4"),
        ("elements", "<i8"), ("negative", "<i8"), ("zero", "<i8"), ("positive", "<i8"),
        ("neg_inf", "<i8"), ("pos_inf", "<i8"), ("nan", "<i8"),
        ("min", "<f8"), ("max", "<f8"), ("mean", "<f8"), ("std", "<f8"),
        ("value", "<i8"),
    ]
)  # fmt: skip
_IDS_AT = RECORD.fields["elements"][1] // 8  # type: ignore[index]  # inputs[] overlays the numbers
_INLINE = 11
_WIDE = np.array([DType.FLOAT64, DType.COMPLEX128, DType.INT64, DType.UINT64], np.uint8)
_PLAIN = ("time", "step", "thread", "execution", "op", "iteration", "dtype", "shape", "elements", "flags", "tensor")
_NUMBERS = ("negative", "zero", "positive", "neg_inf", "pos_inf", "nan", "min", "max", "mean", "std")

Columns = dict[str, Any]


class Decoder:
    """Keeps what one drain left unfinished (a long input list, a value whose record comes later) for the next."""

    def __init__(self) -> None:
        self._unfinished: list[np.ndarray] = []
        self._values: dict[int, int] = {}

    def decode(self, raw: bytes, values: dict[int, int]) -> dict[str, Columns]:
        self._values.update(values)
        records = np.frombuffer(raw, RECORD)
        batches: dict[str, Columns] = {}
        tensors = records[records["kind"] == TENSOR]
        if len(tensors):
            batches["tensors"] = self._tensors(tensors)
        calls = records[records["kind"] != TENSOR]
        if len(calls) or self._unfinished:
            batches.update(self._calls(calls))
        return batches

    def _tensors(self, rows: np.ndarray) -> Columns:
        columns: Columns = {"seq": rows["ready"].astype(np.int64) - 1}
        columns.update((name, np.ascontiguousarray(rows[name])) for name in _PLAIN)
        columns["slot"] = rows["slot"].astype(np.int16)
        without = (rows["flags"] & Flag.NUMBERS) == 0
        mask = without if without.any() else None
        narrow = ~np.isin(rows["dtype"], _WIDE)
        for name in _NUMBERS:
            column = np.ascontiguousarray(rows[name])
            if name in ("mean", "std"):
                # A float32 tensor's mean is not known beyond float32; the zeroed low bytes cost nothing on disk.
                with np.errstate(over="ignore"):
                    column = np.where(narrow, column.astype(np.float32).astype(np.float64), column)
            columns[name] = pa.array(column, mask=mask) if mask is not None else column
        columns["value"] = self._value_ids(rows["value"])
        return columns

    def _value_ids(self, tokens: np.ndarray) -> np.ndarray:
        ids = np.full(len(tokens), -1, np.int64)
        for at in np.flatnonzero(tokens):
            ids[at] = self._values.pop(int(tokens[at]), -1)
        return ids

    def _calls(self, calls: np.ndarray) -> dict[str, Columns]:
        rows = np.concatenate([*self._unfinished, calls]) if self._unfinished else calls
        heads, counts, ids = self._join_lists(rows)
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

    def _join_lists(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(first record of each call, number of ids of each, all ids in order); ``slot`` holds the whole count."""
        words = np.ascontiguousarray(rows).view(np.int64).reshape(len(rows), -1)[:, _IDS_AT : _IDS_AT + _INLINE]
        here = np.arange(_INLINE) < rows["count"][:, None]
        is_head = rows["kind"] != MORE
        if is_head.all() and (rows["slot"] <= _INLINE).all():
            self._unfinished = []
            return rows, rows["count"].astype(np.int64), words[here]
        return self._join_long(rows, words, here, is_head)

    def _join_long(
        self, rows: np.ndarray, words: np.ndarray, here: np.ndarray, is_head: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        open_call: dict[tuple[int, int], int] = {}  # a thread finishes one call's list before it begins another's
        members: dict[int, list[int]] = {}
        for at in range(len(rows)):
            key = (int(rows["thread"][at]), int(rows["execution"][at]))
            if is_head[at]:
                open_call[key] = at
                members[at] = [at]
            elif key in open_call:
                members[open_call[key]].append(at)
        whole = {
            head: parts
            for head, parts in members.items()
            if sum(int(rows["count"][p]) for p in parts) >= int(rows["slot"][head])
        }
        left = sorted(p for head, parts in members.items() if head not in whole for p in parts)
        self._unfinished = [rows[left].copy()] if left else []
        heads = sorted(whole)
        lists = [np.concatenate([words[p][here[p]] for p in whole[head]]) for head in heads]
        counts = np.array([len(ids) for ids in lists], np.int64)
        return rows[heads], counts, np.concatenate(lists) if lists else np.empty(0, np.int64)


def _lists(counts: np.ndarray, ids: np.ndarray) -> pa.Array:
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(ids.astype(np.int64)))
