"""Reads a page of tensors: their numbers, and the names of what made them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from tdbg.model import NAMES, DType, Flag, Phase, is_bad
from tdbg.query.scene.cache import SceneCache
from tdbg.query.scene.ops import INPUT
from tdbg.query.scene.values import Key

_LABELS = {int(kind): kind.label for kind in DType}


def tensor_page(read: SceneCache, positions: np.ndarray) -> pa.Table:
    """Makes a table of one row for each position, in their order. ``time`` is in ms since the trace began; ``shape`` is
    JSON, empty when it is not known; ``kept`` tells whether the elements can be read; ``flags`` are bits of
    ``model.Flag``."""
    rows = read.pages.rows(positions.astype(np.int64))
    ops, at = read.ops, [read.ops.at.get(op, -1) for op in rows["op"].to_pylist()]
    flags = rows["flags"].to_numpy()
    eager = np.array([place >= 0 and ops.graphs[place] < 0 for place in at], bool)
    is_input = (flags & int(Flag.INPUT)) != 0
    shown = [ops.shown[place] if place >= 0 else "?" for place in at]
    names = [name + INPUT * bool(one) for name, one in zip(shown, is_input & eager, strict=True)]
    began = read.moments.began
    columns: dict[str, Any] = {name: rows[name] for name in ("seq", "step", "execution", "op", "slot", "iteration")}
    columns |= {
        "time": pa.array((rows["time"].to_numpy() - began) / 1e6),
        "graph": pa.array([int(ops.graphs[place]) if place >= 0 else -1 for place in at], pa.int32()),
        "name": pa.array(names, pa.string()),
        "type": pa.array([ops.types[place] if place >= 0 else "?" for place in at], pa.string()),
        "phase": pa.array([Phase(int(ops.phases[place])).label if place >= 0 else "" for place in at], pa.string()),
        "dtype": pa.array([_LABELS.get(kind, "unknown") for kind in rows["dtype"].to_pylist()], pa.string()),
        "shape": pa.array([_shape(read, number) for number in rows["shape"].to_pylist()], pa.string()),
    }
    columns |= {name: rows[name] for name in NAMES} | _of_infinities(rows)
    columns |= {"flags": rows["flags"], "bad": pa.array(is_bad(flags))}
    columns["kept"] = pa.array(_kept(read, positions, rows, is_input & eager), pa.bool_())
    return pa.table(columns)


def _of_infinities(rows: pa.Table) -> dict[str, pa.Array]:
    """Shows the extremes of tensors that have no finite element. The extremes that are stored are those of the finite
    elements; where there is none, and no NaN either, the infinities themselves are shown, and no standard deviation."""
    names = ("elements", "neg_inf", "pos_inf", "nan")
    elements, below, above, nan = (rows[name].fill_null(-1).to_numpy() for name in names)
    is_infinite = (elements > 0) & (nan == 0) & (below + above == elements)
    only = np.where(above == 0, -np.inf, np.inf)
    least, greatest = np.where(below > 0, -np.inf, np.inf), np.where(above > 0, np.inf, -np.inf)
    shown = {"min": least, "max": greatest, "mean": np.where(least == greatest, only, np.nan), "std": None}
    return {
        name: pc.if_else(is_infinite, pa.nulls(len(rows), pa.float64()) if value is None else value, rows[name])
        for name, value in shown.items()
    }


def _shape(read: SceneCache, number: int) -> str:
    dims = read.shapes.get(number)
    return "" if dims is None else json.dumps(list(dims), separators=(",", ":"))


def _kept(read: SceneCache, positions: np.ndarray, rows: pa.Table, is_input: np.ndarray) -> list[bool]:
    names = ("value", "op", "slot", "execution", "iteration", "tensor")
    columns = zip(positions.tolist(), *(rows[name].to_pylist() for name in names), is_input.tolist(), strict=True)
    return [read.values.kept(Key(read.process, *cells)) >= 0 for cells in columns]
