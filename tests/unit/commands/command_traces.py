"""Small traces for the tests of the commands."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from tdbg.store.format import SCHEMAS
from tdbg.store.writer import TraceWriter

PROCESS: dict[str, Any] = {
    "argv": ["python", "train.py", "--rate", "1 e3"],
    "rank": 0,
    "mode": "numerics",
    "ring": 0,
    "filters": {"ops": "Log|Exp", "names": None, "dtypes": None, "files": None},
    "steps": [10, None, 2],
    "versions": {"python": "3.11.7", "tensorflow": "2.21.0"},
}


def make_trace(path: Path, rows: int = 120, end: dict[str, Any] | None = None, **process: Any) -> Path:
    """A closed trace of ``rows`` tensors, the last two of them bad, and one note."""
    started = time.time_ns()
    writer = TraceWriter(path, PROCESS | {"started": started} | process)
    columns: dict[str, list[Any]] = {field.name: [0] * rows for field in SCHEMAS["tensors"]}
    numbers = range(rows)
    columns |= {
        "seq": list(numbers),
        "step": [10 + number // 10 for number in numbers],
        "nan": [int(number >= rows - 2) for number in numbers],
        "min": [float("nan") if number == 1 else number / 2 for number in numbers],
        "flags": [3 if number >= rows - 2 else 2 for number in numbers],
        "mean": [None if number == 2 else 0.5 for number in numbers],
    }
    columns["flags"][2] = 0
    for name in ("negative", "zero", "positive", "neg_inf", "pos_inf", "nan", "min", "max", "std"):
        columns[name][2] = None
    writer.append("tensors", columns)
    writer.append("notes", {"time": [1, 2], "kind": ["skipped"] * 2, "count": [3, 4], "text": ["ops were skipped"] * 2})
    writer.flush()
    writer.close({"ended": started + 2_500_000_000, "how": "exception", "status": 1, "dropped": 5} | (end or {}))
    return path
