"""One list of a tensor's numbers: the C record, the trace and everything above have those of model.Summary."""

from __future__ import annotations

from dataclasses import fields
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest

from tdbg import native
from tdbg.capture.condition import OF_TENSORS, compiled
from tdbg.expressions import FIELDS, parse
from tdbg.model import COUNTS, MEASURED, NAMES, NUMBERS, STATISTICS, DType, Flag, Summary
from tdbg.native import fallback
from tdbg.native.record import FIRST_NUMBERS, RECORD, record_of_bytes, record_with
from tdbg.query.trace.rows import ROW_COLUMNS
from tdbg.store import rollup
from tdbg.store.format import NUMBER_COLUMNS, SCHEMAS
from tdbg.store.seal import ENCODINGS

LIBRARIES: list[ModuleType] = [lib for lib in (native.lib, fallback) if lib is not None]


@pytest.fixture(params=LIBRARIES, ids=lambda lib: "native" if lib.IS_NATIVE else "python")
def lib(request: pytest.FixtureRequest) -> ModuleType:
    return request.param


def test_the_list_is_that_of_summary() -> None:
    assert tuple(field.name for field in fields(Summary)) == NAMES == tuple(number.name for number in NUMBERS)
    assert {*COUNTS, *STATISTICS} == {*NAMES}
    assert NAMES[1:] == MEASURED


def test_the_c_record_has_the_same_numbers_in_the_same_order(lib: ModuleType) -> None:
    assert lib.number_names() == [(number.name, number.is_count) for number in NUMBERS]
    assert RECORD.itemsize == lib.RECORD_BYTES


def test_each_number_lies_where_the_record_says(lib: ModuleType) -> None:
    values = np.array([-7.5, -1, 0, 0, 0, 2, 3, 4, -np.inf, np.inf, np.inf, np.nan, np.nan, np.nan], np.float32)
    lib.ring_open(16, None, True)
    lib.set_mode(2, 0, 0, 0, 0)
    lib.tensor(1, 0, -1, 0, -1, values, int(DType.FLOAT32))
    (row,) = np.frombuffer(lib.ring_drain(16), RECORD)
    expected = native.reference.summarize(values).numbers()
    assert row["flags"] & Flag.NUMBERS
    assert {name: row[name].item() for name in NAMES} == pytest.approx(expected, rel=1e-6)


def test_a_summary_is_a_tuple_of_them(lib: ModuleType) -> None:
    found = lib.summarize(np.array([1, -2], np.float32).view(np.uint8), int(DType.FLOAT32))
    assert Summary(*found).numbers() == native.reference.summarize(np.array([1, -2], np.float32)).numbers()


@pytest.mark.skipif(native.lib is None, reason="the extension is not built")
@pytest.mark.parametrize("name", [name for name in NAMES if name != "elements"])
def test_conditions_in_c_know_each_by_its_place(name: str) -> None:
    numbers = {other: 0 if other in COUNTS else 0.0 for other in NAMES} | {name: 5}
    tests = compiled(parse(f"{name} == 5").root)
    assert native.lib is not None
    assert native.lib.tests_met(tests, tuple(numbers.values()), 1, 0, -1) is True
    assert native.lib.tests_met(tests, tuple((numbers | {name: 4}).values()), 1, 0, -1) is False
    assert OF_TENSORS[: len(NAMES)] == NAMES


def test_filters_have_all() -> None:
    assert {*NAMES} <= {*FIELDS}


def test_the_trace_has_a_column_for_each() -> None:
    names = SCHEMAS["tensors"].names
    assert names[names.index(NAMES[0]) :][: len(NAMES)] == list(NAMES)
    types = {number.name: pa.int64() if number.is_count else pa.float64() for number in NUMBERS}
    assert {name: SCHEMAS["tensors"].field(name).type for name in NAMES} == types
    assert {*NUMBER_COLUMNS} == {*MEASURED}
    assert {*STATISTICS} <= {*ENCODINGS["tensors"]}


def test_rollups_and_rows_have_them() -> None:
    assert {number.name for number in NUMBERS if number.merged} <= {*rollup.schema("ops").names}
    assert {*NAMES} <= {*ROW_COLUMNS} <= {*SCHEMAS["tensors"].names}


def test_records_of_rings_grow_at_the_end() -> None:
    assert record_of_bytes(RECORD.itemsize) == RECORD
    first = record_with(NUMBERS[:FIRST_NUMBERS])
    assert first.itemsize == 160
    assert record_of_bytes(160) == first
    assert record_of_bytes(152) is record_of_bytes(RECORD.itemsize + 8) is None
