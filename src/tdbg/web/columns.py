"""Packs a table into one binary page that a browser reads without parsing a number.

A page is: the length of the header (four bytes, little-endian), the header as JSON, filled up with blanks so that what
follows begins at a multiple of eight bytes, and the columns one behind the other, each at a multiple of eight. The
header has ``total``, ``rows``, ``columns`` (name, type, offset behind the header, bytes) and ``strings``. Types are
f64, f32, i32, i16, u16, u8 and text: a text is the number (i32) of an entry of ``strings[name]``. Whole numbers of 64
bits come as f64; what was not measured is NaN there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.strict_json import to_json
from tdbg.web.route import Answer

KIND = "application/octet-stream"
_TYPES = {"f8": "f64", "f4": "f32", "i4": "i32", "i2": "i16", "u2": "u16", "u1": "u8"}


def column_page(table: pa.Table, header: Mapping[str, Any]) -> Answer:
    """Packs a table. ``header`` has ``total``, and whatever else the page wants to know."""
    described, strings, parts = [], {}, []
    offset = 0
    for name in table.column_names:
        column = table[name].combine_chunks()
        if pa.types.is_string(column.type):
            column = column.dictionary_encode()
            strings[name] = column.dictionary.to_pylist()
            kind, data = "text", column.indices.to_numpy(zero_copy_only=False).astype("<i4").tobytes()
        else:
            kind, data = _numbers(column.to_numpy(zero_copy_only=False))
        described.append({"name": name, "type": kind, "offset": offset, "bytes": len(data)})
        parts.append(data + b"\0" * (-len(data) % 8))
        offset += len(parts[-1])
    said = to_json({**header, "rows": len(table), "columns": described, "strings": strings}).encode()
    said += b" " * (-(4 + len(said)) % 8)
    return Answer(b"".join([len(said).to_bytes(4, "little"), said, *parts]), KIND)


def _numbers(column: np.ndarray) -> tuple[str, bytes]:
    if column.dtype.kind == "b":
        column = column.astype(np.uint8)
    kind = _TYPES.get(f"{column.dtype.kind}{column.dtype.itemsize}", "f64")
    wide = {"f64": "<f8", "f32": "<f4", "i32": "<i4", "i16": "<i2", "u16": "<u2", "u8": "u1"}[kind]
    return kind, column.astype(wide).tobytes()
