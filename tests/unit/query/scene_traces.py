"""Small traces, written by the store's writer, for the tests of scenes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.model import DType, Flag
from tdbg.store.format import SCHEMAS
from tdbg.store.writer import TraceWriter

BAD, NUMBERS, INPUT, EVIDENCE = (int(flag) for flag in (Flag.BAD, Flag.NUMBERS, Flag.INPUT, Flag.EVIDENCE))
SOURCE = "def step(x):\n    y = tf.math.log(x)\n    return tf.reduce_sum(y)\n"

_DEFAULTS: dict[str, dict[str, Any]] = {
    "tensors": {
        "time": 0, "step": 0, "thread": 1, "execution": 0, "slot": 0, "iteration": -1, "dtype": int(DType.FLOAT32),
        "shape": 0, "elements": 4, "flags": NUMBERS, "tensor": -1, "value": -1, "negative": 1, "zero": 1, "positive": 2,
        "neg_inf": 0, "pos_inf": 0, "nan": 0, "min": -1.0, "max": 2.0, "mean": 0.5, "std": 1.0,
    },
    "ops": {
        "graph": 0, "device": "/device:CPU:0", "input_ops": [], "input_slots": [], "output_dtypes": [3],
        "attributes": "{}", "stack": 1, "phase": 0, "forward": -1, "observed": True, "kind": "",
        "roles": [], "framework": "",
    },
    "executions": {"seq": 0, "time": 0, "step": 0, "thread": 1, "op": -1, "graph": 0, "inputs": []},
    "runs": {"global_step": -1, "error": ""},
}  # fmt: skip


def new_trace(folder: Path, name: str = "run.tdbg", started: int = 1_000, **info: Any) -> TraceWriter:
    about = {"argv": ["python", "train.py", "--lr", "1"], "rank": 0, "mode": "numerics", "started": started} | info
    return TraceWriter(folder / name, about)


def add(writer: TraceWriter, table: str, *rows: dict[str, Any]) -> None:
    """Rows of a table; what is not given is as in ``_DEFAULTS``."""
    defaults = _DEFAULTS.get(table, {})
    columns = {}
    for field in SCHEMAS[table]:
        cells = [row.get(field.name, defaults.get(field.name)) for row in rows]
        columns[field.name] = pa.array(cells, field.type) if None in cells else cells
    writer.append(table, columns)


def add_program(writer: TraceWriter, ops: Sequence[dict[str, Any]]) -> None:
    """Ops of a function ``step``, made by its second line."""
    add(writer, "sources", {"file": "/home/me/train.py", "text": SOURCE, "time": 0})
    add(
        writer,
        "frames",
        {"frame": 0, "file": "/home/me/train.py", "line": 9, "function": "<module>", "is_user": True},
        {"frame": 1, "file": "/home/me/train.py", "line": 2, "function": "step", "is_user": True},
        {"frame": 2, "file": "/lib/tensorflow/math_ops.py", "line": 77, "function": "log", "is_user": False},
    )
    add(
        writer,
        "stacks",
        {"stack": 0, "parent": -1, "frame": 0},
        {"stack": 1, "parent": 0, "frame": 1},
        {"stack": 2, "parent": 1, "frame": 2},
    )
    add(writer, "shapes", {"shape": 0, "dims": [2, 2]}, {"shape": 1, "dims": []})
    add(
        writer,
        "graphs",
        {"graph": 0, "outer": -1, "name": "step", "function": "step", "stack": 0, "time": 0},
        {"graph": 1, "outer": -1, "name": "evaluate", "function": "evaluate", "stack": 0, "time": 0},
    )
    add(writer, "ops", *ops)


def bad_row(**more: Any) -> dict[str, Any]:
    return {"flags": BAD | NUMBERS, "nan": 3, "positive": 0, "min": 1.0, "max": 1.0} | more


def logs(folder: Path, **info: Any) -> TraceWriter:
    """Three steps of MatMul, Log and Sum; the Log of step 1 is bad, its input was kept beside it. Rows lie in another
    order than that of events, as threads may leave them. Also an eager Mul, on two lines, before the first step."""
    writer = new_trace(folder, **info)
    add_program(
        writer,
        [
            {"op": 0, "name": "x", "type": "Placeholder"},
            {"op": 1, "name": "dense/MatMul", "type": "MatMul", "input_ops": [0], "input_slots": [0]},
            {"op": 2, "name": "Log", "type": "Log", "input_ops": [1], "input_slots": [0], "stack": 2,
             "attributes": json.dumps({"T": "float32", "flag": True, "shape": [2, -1]})},
            {"op": 3, "name": "Sum", "type": "Sum", "input_ops": [2], "input_slots": [0], "phase": 1},
            {"op": 4, "name": "Log", "type": "Log", "graph": 1, "input_ops": [], "input_slots": []},
            {"op": 5, "name": "Mul", "type": "Mul", "graph": -1},
            {"op": 6, "name": "Mul", "type": "Mul", "graph": -1},
            {"op": 7, "name": "Reshape", "type": "Reshape", "input_ops": [1], "input_slots": [0], "observed": False},
            {"op": 8, "name": "Split", "type": "Split"},
        ],
    )  # fmt: skip
    add(writer, "controls", {"op": 3, "input_op": 1})
    given = np.array([[1, 2], [0, -1]], np.float32)
    result = np.array([[0, 1], [-np.inf, np.nan]], np.float32)
    kept = [writer.put_value(array.tobytes(), int(DType.FLOAT32), (2, 2)) for array in (given, result)]
    rows = [
        {"seq": 0, "step": -1, "op": 5, "execution": -1, "flags": INPUT | NUMBERS},
        {"seq": 1, "step": -1, "op": 5, "execution": -1},
        {"seq": 2, "step": -1, "op": 6, "execution": -1},
    ]
    for step in range(3):
        at = 10 * (step + 1)
        rows += [
            {"seq": at + 1, "step": step, "execution": step, "op": 1},
            {"seq": at, "step": step, "execution": step, "op": 0, "flags": INPUT | NUMBERS, "elements": 8},
            {"seq": at + 2, "step": step, "execution": step, "op": 2},
            {"seq": at + 3, "step": step, "execution": step, "op": 3, "shape": 1, "elements": 1},
        ]
    rows[9] |= bad_row(value=kept[1])
    rows += [
        {"seq": 24, "step": 1, "execution": 1, "op": 2, "flags": EVIDENCE | NUMBERS, "value": kept[0]},
        {"seq": 35, "step": 2, "execution": 2, "op": 4},
        {"seq": 36, "step": 2, "execution": 2, "op": 8},
        {"seq": 37, "step": 2, "execution": 2, "op": 8, "slot": 1},
    ]
    for row in rows:
        row["time"] = 1_000_000 * row["seq"] + 5_000
    add(writer, "tensors", *rows)
    add(writer, "steps", *({"step": n, "seq": 10 * (n + 1), "time": 10**9 * n, "source": "test"} for n in range(3)))
    writer.flush()
    return writer


def session(folder: Path, told: Sequence[int | None] = (1, 2, 3)) -> TraceWriter:
    """Runs of a Session: the first fetches ``init``, the others ``loss:0`` and ``train``; None: a run that has not
    ended. TensorFlow made one op of a product, a sum and a Relu, and renamed a square root."""
    writer = new_trace(folder)
    fused = "hidden/Relu (Relu), hidden/BiasAdd (BiasAdd), hidden/MatMul (MatMul)"
    add_program(
        writer,
        [
            {"op": 0, "name": "init", "type": "NoOp", "graph": 0},
            {"op": 1, "name": "c", "type": "Const", "graph": 1},
            {"op": 2, "name": "x", "type": "Placeholder", "graph": 1},
            {"op": 3, "name": "hidden/Relu", "type": "_FusedMatMul", "graph": 1,
             "attributes": json.dumps({"_stands_for": fused})},
            {"op": 4, "name": "root/unary_ops_composition", "type": "_UnaryOpsComposition", "graph": 1,
             "attributes": json.dumps({"_stands_for": "root (Sqrt), absolute (Abs)"})},
            {"op": 5, "name": "hidden/MatMul", "type": "MatMul", "graph": 1, "observed": False},
            {"op": 6, "name": "product", "type": "_MklMatMul", "graph": 1},
        ],
    )  # fmt: skip
    add(
        writer,
        "signatures",
        {"graph": 0, "fetches": [], "targets": ["init"], "feeds": []},
        {"graph": 1, "fetches": ["loss:0"], "targets": ["train"], "feeds": ["x:0"]},
    )
    rows = [{"seq": 1, "op": 1, "execution": -1, "flags": INPUT | NUMBERS}]
    for number, run in enumerate(told):
        graph = 1 if number else 0
        add(writer, "executions", {"execution": number, "seq": 10 * number, "time": 2_000 + number, "graph": graph})
        if run is not None:
            error = "Session.run failed: no" if number == 2 else ""
            add(writer, "runs", {"execution": number, "run": run, "error": error})
        if number:
            rows += [{"seq": 10 * number + n, "op": op, "execution": number} for n, op in enumerate((2, 3, 4, 6), 1)]
    add(writer, "tensors", *rows)
    writer.flush()
    return writer
