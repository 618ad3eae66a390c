"""Made-up rows of every table for the tests of the store."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

import tdbg
from tdbg.store.format import NUMBER_COLUMNS, SCHEMAS
from tdbg.store.writer import TraceWriter

SOURCE = str(Path(tdbg.__file__).parents[1])


def cell(kind: pa.DataType, number: int) -> Any:
    if pa.types.is_list(kind):
        return [cell(kind.value_type, number + n) for n in range(number % 3)]
    if pa.types.is_boolean(kind):
        return number % 2 == 0
    if pa.types.is_floating(kind):
        return number / 8
    if pa.types.is_string(kind):
        return f"text {number} é"
    if pa.types.is_fixed_size_binary(kind):
        return number.to_bytes(kind.byte_width, "little")
    return number % 100


def columns(table: str, rows: int, first: int = 0, **given: Any) -> dict[str, Any]:
    """``rows`` rows whose cells differ from row to row; ``given`` replaces whole columns."""
    made = {field.name: [cell(field.type, first + row) for row in range(rows)] for field in SCHEMAS[table]}
    if "seq" in made:
        made["seq"] = list(range(first, first + rows))
    for name in ("forward", "parent", "outer"):  # readers cut what refers to itself
        if name in made:
            made[name] = [number - 1 for number in made[name]]
    for name, other in (("input_slots", "input_ops"), ("output_slots", "output_ops")):
        if name in made:
            made[name] = made[other]
    if "phase" in made:
        made["phase"] = [number % 4 for number in made["phase"]]
    return made | given


def tensor_columns(rows: int, first: int = 0, bad: tuple[int, ...] = (), seed: int = 1) -> dict[str, Any]:
    """Rows of ``tensors`` as a recorder gives them; ``bad`` are the seq of those that hold a NaN.

    One in ten has no numbers (its counts and statistics are null).
    """
    random = np.random.default_rng([seed, first])
    made = {name: np.array(column) for name, column in columns("tensors", rows, first).items()}
    seq = np.arange(first, first + rows)
    is_bad = np.isin(seq, bad)
    has_numbers = random.random(rows) < 0.9
    made |= {
        "seq": seq,
        "time": 1_000 + seq,
        "step": seq // 10,
        "op": random.integers(0, 5, rows),
        "slot": random.integers(0, 2, rows),
        "nan": is_bad * 3,
        "neg_inf": np.zeros(rows, np.int64),
        "pos_inf": is_bad * 1,
        "min": np.where(random.random(rows) < 0.1, np.nan, random.normal(size=rows)),
        "max": np.where(random.random(rows) < 0.1, np.nan, random.normal(size=rows)),
        "flags": np.where(is_bad, 1, 0) + np.where(has_numbers, 2, 0),
    }
    return made | {name: pa.array(made[name], mask=~has_numbers) for name in NUMBER_COLUMNS}


def new_writer(trace: Path, **options: Any) -> TraceWriter:
    return TraceWriter(trace, {"argv": ["train.py"], "rank": 0}, **options)


def hot_file(folder: Path, table: str = "steps", batches: int = 3, rows: int = 2) -> Path:
    """A process that has flushed some batches of one small table and is still running."""
    writer = new_writer(folder / "run.tdbg")
    for batch in range(batches):
        writer.append(table, columns(table, rows, batch * rows))
        writer.flush()
    return next(writer.folder.glob(f"{table}*.arrows"))


def without_process(table: pa.Table) -> list[dict[str, Any]]:
    return table.drop_columns("process").to_pylist()
