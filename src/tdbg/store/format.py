"""The trace on disk: layout, table schemas and invariants. (SPECIFICATION TO COME)"""

from __future__ import annotations

import re
import struct

import pyarrow as pa

NAME = "tdbg"
VERSION = 1

_list = pa.list_

# In reading order: a row refers only to rows of its own table and of tables further down.
SCHEMAS: dict[str, pa.Schema] = {
    name: pa.schema([pa.field(column, kind) for column, kind in columns.items()])
    for name, columns in {
        "tensors": {
            "seq": pa.int64(),
            "time": pa.int64(),
            "step": pa.int32(),
            "thread": pa.int32(),
            "execution": pa.int64(),
            "op": pa.int32(),
            "slot": pa.int16(),
            "iteration": pa.int32(),
            "dtype": pa.uint8(),
            "shape": pa.int32(),
            "elements": pa.int64(),
            "negative": pa.int64(),
            "zero": pa.int64(),
            "positive": pa.int64(),
            "neg_inf": pa.int64(),
            "pos_inf": pa.int64(),
            "nan": pa.int64(),
            "min": pa.float64(),
            "max": pa.float64(),
            "mean": pa.float64(),
            "std": pa.float64(),
            "flags": pa.uint16(),
            "tensor": pa.int64(),
            "value": pa.int64(),
        },
        "ends": {
            "execution": pa.int64(),
            "time": pa.int64(),
            "failed": pa.bool_(),
            "outputs": _list(pa.int64()),
        },
        "executions": {
            "execution": pa.int64(),
            "seq": pa.int64(),
            "time": pa.int64(),
            "step": pa.int32(),
            "thread": pa.int32(),
            "op": pa.int32(),
            "graph": pa.int32(),
            "inputs": _list(pa.int64()),
        },
        "steps": {"step": pa.int32(), "seq": pa.int64(), "time": pa.int64(), "source": pa.string()},
        # A graph that became callable: which of its ops are its arguments and which tensors are its results.
        "functions": {
            "function": pa.string(),
            "graph": pa.int32(),
            "input_ops": _list(pa.int32()),
            "output_ops": _list(pa.int32()),
            "output_slots": _list(pa.int16()),
        },
        "controls": {"op": pa.int32(), "input_op": pa.int32()},
        "ops": {
            "op": pa.int32(),
            "graph": pa.int32(),
            "name": pa.string(),
            "type": pa.string(),
            "device": pa.string(),
            "input_ops": _list(pa.int32()),
            "input_slots": _list(pa.int16()),
            "output_dtypes": _list(pa.uint8()),
            "attributes": pa.string(),
            "stack": pa.int32(),
            "phase": pa.uint8(),
            "forward": pa.int32(),
            "observed": pa.bool_(),
        },
        "graphs": {
            "graph": pa.int32(),
            "outer": pa.int32(),
            "name": pa.string(),
            "function": pa.string(),
            "stack": pa.int32(),
            "time": pa.int64(),
        },
        "shapes": {"shape": pa.int32(), "dims": _list(pa.int64())},
        "stacks": {"stack": pa.int32(), "parent": pa.int32(), "frame": pa.int32()},
        "frames": {
            "frame": pa.int32(),
            "file": pa.string(),
            "line": pa.int32(),
            "function": pa.string(),
            "is_user": pa.bool_(),
        },
        "sources": {"file": pa.string(), "text": pa.string(), "time": pa.int64()},
        "values": {
            "value": pa.int64(),
            "hash": pa.binary(16),
            "dtype": pa.uint8(),
            "dims": _list(pa.int64()),
            "segment": pa.int32(),
            "offset": pa.int64(),
            "stored": pa.int64(),
            "bytes": pa.int64(),
        },
        "notes": {"time": pa.int64(), "kind": pa.string(), "count": pa.int64(), "text": pa.string()},
    }.items()
}

# Large tables: numbered hot segments that are sealed to Parquet. The others are one hot file each.
SEALED_TABLES = frozenset({"tensors", "executions", "ends"})

# The only columns that may hold nulls: in rows of ``tensors`` without Flag.NUMBERS.
NUMBER_COLUMNS = frozenset("negative zero positive neg_inf pos_inf nan min max mean std".split())

WRITE_ORDER = tuple(reversed(SCHEMAS))

MAGIC = b"TDBF"
HEADER = struct.Struct("<4sIIIQQ")  # magic, crc32, kind, rows, payload bytes, position of this header in its file
CRC_FROM = 8  # the checksum covers the header from here on, the payload and the padding
ALIGNMENT = 8

KIND_SCHEMA, KIND_BATCH, KIND_VALUE, KIND_VALUE_ZSTD = 1, 2, 3, 4

TRACE_JSON, PROCESS_JSON, END_JSON = "trace.json", "process.json", "end.json"

_SEGMENT_FILE = re.compile(r"([a-z_]+)(?:-(\d{6,}))?\.(arrows|parquet)")


def hot_name(table: str, number: int) -> str:
    """``tensors-000001.arrows``; number 0 is a table that has one file only: ``ops.arrows``."""
    return f"{table}-{number:06d}.arrows" if number else f"{table}.arrows"


def sealed_name(table: str, number: int) -> str:
    return f"{table}-{number:06d}.parquet"


def rollup_name(table: str, number: int, kind: str) -> str:
    return f"{table}-{number:06d}.{kind}.parquet"


def blob_name(number: int) -> str:
    return f"values-{number:06d}.blob"


def parse_name(file: str) -> tuple[str, int, bool] | None:
    """Table, number (0 for an unnumbered file) and whether it is sealed; None for a file that holds no table."""
    match = _SEGMENT_FILE.fullmatch(file)
    if match is None or match[1] not in SCHEMAS:
        return None
    return match[1], int(match[2] or 0), match[3] == "parquet"
