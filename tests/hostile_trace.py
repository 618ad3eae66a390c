"""A trace whose every name is HTML that would run, were it taken for HTML."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tdbg.store.format import SCHEMAS
from tdbg.store.writer import TraceWriter

HOSTILE = '<img src=x onerror=alert(1)>"&</script>'


def write_trace(
    path: Path, rows: int = 60, name: str = HOSTILE, file: str | None = None, source: str | None = "x = 1"
) -> Path:
    """A small trace whose every name is hostile. ``source`` None: it holds no text of its file."""
    writer = TraceWriter(path, {"argv": ["python", f"{name}.py"], "rank": 0, "mode": "numerics"})
    file = file or f"/home/u/{name}.py"
    if source is not None:
        writer.append("sources", {"file": [file], "text": [f"{source}  # {name}\n"], "time": [0]})
    writer.append("frames", {"frame": [0], "file": [file], "line": [1], "function": [name], "is_user": [True]})
    writer.append("stacks", {"stack": [0], "parent": [-1], "frame": [0]})
    writer.append("shapes", {"shape": [0], "dims": [[2, 2]]})
    graph = {"graph": [0], "outer": [-1], "name": [name], "function": [name], "stack": [0], "time": [0]}
    writer.append("graphs", graph)
    ops: dict[str, list[Any]] = {
        "op": [0, 1], "graph": [0, 0], "name": [f"{name}/a", "b"], "type": ["Log", "Mul"], "device": ["", ""],
        "input_ops": [[], [0]], "input_slots": [[], [0]], "output_dtypes": [[3], [3]],
        "attributes": ["{}", "{}"], "stack": [0, 0], "phase": [0, 0], "forward": [-1, -1], "observed": [True, True],
        "kind": ["", ""], "roles": [[], []], "framework": ["", ""],
    }  # fmt: skip
    writer.append("ops", ops)
    columns: dict[str, list[Any]] = {field.name: [0] * rows for field in SCHEMAS["tensors"]}
    columns |= {
        "seq": list(range(rows)),
        "step": [n // 10 for n in range(rows)],
        "op": [n % 2 for n in range(rows)],
        "dtype": [3] * rows,
        "elements": [4] * rows,
        "nan": [int(n > rows // 2) for n in range(rows)],
        "flags": [3 if n > rows // 2 else 2 for n in range(rows)],
        "value": [-1] * rows,
        "tensor": [-1] * rows,
    }
    writer.append("tensors", columns)
    writer.append("notes", {"time": [1], "kind": [name], "count": [1], "text": [name]})
    writer.close({"status": 0})
    return path
