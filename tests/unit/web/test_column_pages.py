"""Binary pages, read back as a browser reads them."""

from __future__ import annotations

import json
import math
import struct
from typing import Any

import numpy as np
import pyarrow as pa

from tdbg.web.columns import column_page

_KINDS = {"f64": "<f8", "f32": "<f4", "i32": "<i4", "i16": "<i2", "u16": "<u2", "u8": "u1", "text": "<i4"}


def read(page: bytes) -> tuple[dict[str, Any], dict[str, list[Any]]]:
    (length,) = struct.unpack("<I", page[:4])
    header = json.loads(page[4 : 4 + length])
    assert (4 + length) % 8 == 0
    columns = {}
    for one in header["columns"]:
        assert one["offset"] % 8 == 0
        begin = 4 + length + one["offset"]
        cells = np.frombuffer(page[begin : begin + one["bytes"]], _KINDS[one["type"]]).tolist()
        columns[one["name"]] = [header["strings"][one["name"]][n] for n in cells] if one["type"] == "text" else cells
    return header, columns


def test_every_kind_of_column() -> None:
    table = pa.table(
        {
            "wide": pa.array([1, 2**53 - 1, -7], pa.int64()),
            "step": pa.array([1, -1, 3], pa.int32()),
            "slot": pa.array([0, -2, 3], pa.int16()),
            "flags": pa.array([0, 1, 65535], pa.uint16()),
            "dtype": pa.array([0, 1, 255], pa.uint8()),
            "bad": pa.array([True, False, True]),
            "max": pa.array([1.5, math.inf, None]),
            "nan": pa.array([4, None, 0], pa.int64()),
            "name": pa.array(["a", 'b"<\u2028', "a"]),
        }
    )
    answer = column_page(table, {"total": 9})
    assert isinstance(answer.body, bytes)
    header, columns = read(answer.body)
    assert (header["total"], header["rows"]) == (9, 3)
    assert columns["wide"] == [1, 2**53 - 1, -7]
    assert columns["step"] == [1, -1, 3]
    assert columns["slot"] == [0, -2, 3]
    assert columns["flags"] == [0, 1, 65535]
    assert columns["dtype"] == [0, 1, 255]
    assert columns["bad"] == [1, 0, 1]
    assert columns["max"][:2] == [1.5, math.inf]
    assert math.isnan(columns["max"][2])
    assert columns["nan"][::2] == [4, 0]
    assert math.isnan(columns["nan"][1])
    assert columns["name"] == ["a", 'b"<\u2028', "a"]
    assert header["strings"]["name"] == ["a", 'b"<\u2028']


def test_a_page_without_rows() -> None:
    answer = column_page(pa.table({"n": pa.array([], pa.int64()), "t": pa.array([], pa.string())}), {"total": 0})
    assert isinstance(answer.body, bytes)
    assert read(answer.body) == ({**read(answer.body)[0], "rows": 0}, {"n": [], "t": []})
