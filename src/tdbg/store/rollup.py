"""Sums up rows of ``tensors`` by op and by step, so that a page need not read every row.

One definition serves all: each row becomes a rollup row of its own (``_ones``), and ``_fold`` folds those that share a
key, whether they came from rows, row groups, segments or other rollups. Plain numpy, because Arrow's own group-by
takes 100 ms to import in the program that is being watched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa

from tdbg.model import NUMBERS, Flag, is_bad_output

KEYS = {"ops": ("op", "slot"), "steps": ("step",)}

_NO_SHAPE = np.int32(np.iinfo(np.int32).max)

Fold = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _least_but_minus_one(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    # As an unsigned number -1, which stands for "none", is the largest there is.
    return np.minimum.reduceat(values.view(np.uint64), starts).view(np.int64)


_ALWAYS: dict[str, tuple[Fold, pa.DataType]] = {
    "rows": (np.add.reduceat, pa.int64()),
    "first_seq": (np.minimum.reduceat, pa.int64()),
    "last_seq": (np.maximum.reduceat, pa.int64()),
    "bad": (np.add.reduceat, pa.int64()),
    "first_bad_seq": (_least_but_minus_one, pa.int64()),
}
_MERGES: dict[str, Fold] = {"sum": np.add.reduceat, "least": np.fmin.reduceat, "greatest": np.fmax.reduceat}
_MERGED = [one for one in NUMBERS if one.merged]
_PER_OP: dict[str, tuple[Fold, pa.DataType]] = {
    "first_step": (np.minimum.reduceat, pa.int32()),
    "last_step": (np.maximum.reduceat, pa.int32()),
    **{one.name: (_MERGES[one.merged], pa.int64() if one.is_count else pa.float64()) for one in _MERGED},
    "least_shape": (np.minimum.reduceat, pa.int32()),
    "greatest_shape": (np.maximum.reduceat, pa.int32()),
}
# Columns of each rollup: how those of several rows become one, and their type.
FOLDS = {"ops": _ALWAYS | _PER_OP, "steps": _ALWAYS}

_KEY_TYPES = {"process": pa.int32(), "op": pa.int32(), "slot": pa.int16(), "step": pa.int32()}

# The columns of ``tensors`` that a rollup is made from.
SOURCE_COLUMNS = ("seq", "step", "op", "slot", "shape", *(one.name for one in _MERGED), "flags")


def schema(kind: str, also_by: Sequence[str] = ()) -> pa.Schema:
    keys = [(key, _KEY_TYPES[key]) for key in (*also_by, *KEYS[kind])]
    return pa.schema(keys + [(name, of) for name, (_, of) in FOLDS[kind].items()])


def roll_up(rows: pa.Table, kind: str) -> pa.Table:
    """The rollup of some rows of ``tensors``, sorted by its key."""
    return _fold(_ones(rows, kind), kind, ())


def merge(parts: Sequence[pa.Table], kind: str, also_by: Sequence[str] = ()) -> pa.Table:
    """Rollups of the same kind as one, sorted by key; ``also_by`` names a further key column, such as the process."""
    wanted = schema(kind, also_by)
    if not parts:
        return wanted.empty_table()
    together = {name: np.concatenate([_numpy(part[name]) for part in parts]) for name in wanted.names}
    return _fold(together, kind, also_by)


def _ones(rows: pa.Table, kind: str) -> dict[str, np.ndarray]:
    given = {name: _numpy(rows[name]) for name in SOURCE_COLUMNS}
    seq, flags = given["seq"], given["flags"]
    bad = is_bad_output(flags)
    ones = {key: given[key] for key in KEYS[kind]}
    ones |= {
        "rows": np.ones(len(seq), np.int64),
        "first_seq": seq,
        "last_seq": seq,
        "bad": bad.astype(np.int64),
        "first_bad_seq": np.where(bad, seq, -1),
    }
    if kind == "ops":
        ones |= {"first_step": given["step"], "last_step": given["step"]}
        counted = (flags & Flag.NUMBERS) != 0
        for one in _MERGED:
            ones[one.name] = given[one.name] if one.is_count else np.where(counted, given[one.name], np.nan)
        # Evidence is an input of the op and says nothing of the shapes of its outputs.
        is_output, shape = (flags & Flag.EVIDENCE) == 0, given["shape"]
        ones |= {"least_shape": np.where(is_output, shape, _NO_SHAPE), "greatest_shape": np.where(is_output, shape, -1)}
    return ones


def _numpy(column: pa.ChunkedArray) -> np.ndarray:
    """A column whose empty cells (numbers that were not computed) are 0, or NaN where that exists."""
    values = column.to_numpy()
    if column.null_count and not pa.types.is_floating(column.type):
        with np.errstate(invalid="ignore"):  # a count that no tensor can have
            return np.nan_to_num(values).astype(pa.array([], column.type).to_numpy().dtype)
    return values


def _fold(rows: dict[str, np.ndarray], kind: str, also_by: Sequence[str]) -> pa.Table:
    wanted = schema(kind, also_by)
    keys = [rows[key] for key in (*also_by, *KEYS[kind])]
    if not len(keys[0]):
        return wanted.empty_table()
    order = np.lexsort(keys[::-1])
    is_new = np.ones(len(order), bool)
    is_new[1:] = np.any([key[order[1:]] != key[order[:-1]] for key in keys], axis=0)
    starts = np.flatnonzero(is_new)
    columns = [key[order[starts]] for key in keys]
    columns += [fold(rows[name][order], starts) for name, (fold, _) in FOLDS[kind].items()]
    return pa.Table.from_arrays(
        [pa.array(column, of) for column, of in zip(columns, wanted.types, strict=True)], schema=wanted
    )
