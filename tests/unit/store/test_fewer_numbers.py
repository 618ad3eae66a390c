"""Traces of a tdbg that knew fewer numbers of a tensor open as before: what they lack is null."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from store_rows import new_writer, tensor_columns

from tdbg.model import NUMBERS, Flag
from tdbg.native.record import TENSOR, record_with
from tdbg.query.scene.tensors import summary_of
from tdbg.store import rollup
from tdbg.store.format import SCHEMAS
from tdbg.store.reader import StoredTrace
from tdbg.store.records import Decoder

ROWS = 40
LACKS = "std"
KNOWN = pa.schema([field for field in SCHEMAS["tensors"] if field.name != LACKS])


@pytest.fixture(params=["hot", "sealed"])
def trace(tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> StoredTrace:
    columns = tensor_columns(ROWS, bad=(3,))
    with monkeypatch.context() as earlier:
        earlier.setitem(SCHEMAS, "tensors", KNOWN)
        writer = new_writer(tmp_path / "run.tdbg")
        writer.append("tensors", {name: columns[name] for name in KNOWN.names})
        writer.flush()
        if request.param == "sealed":
            writer.close({})
    return StoredTrace.open(tmp_path / "run.tdbg")


def test_the_column_is_there_and_null(trace: StoredTrace) -> None:
    rows = trace.table("tensors")
    assert rows["std"].null_count == len(rows) == ROWS
    assert rows["mean"].null_count < ROWS


def test_sql_has_the_column(trace: StoredTrace) -> None:
    found = trace.connect().execute("SELECT count(*), count(mean) > 0, count(std), typeof(any_value(std)) FROM tensors")
    assert found.fetchall() == [(ROWS, True, 0, "DOUBLE")]


def test_pages_and_rollups_do(trace: StoredTrace) -> None:
    page = trace.pages(0).rows(np.arange(5))
    assert page.schema.names == SCHEMAS["tensors"].names
    assert page["std"].null_count == 5
    assert sum(trace.rollup("ops")["bad"].to_pylist()) == 1
    assert trace.rollup("ops").schema.names[1:] == rollup.schema("ops").names


def test_a_row_still_has_its_summary(trace: StoredTrace) -> None:
    rows = trace.table("tensors").to_pylist()
    measured = next(row for row in rows if row["flags"] & Flag.NUMBERS)
    other = next(row for row in rows if not row["flags"] & Flag.NUMBERS)
    found = summary_of(measured)
    assert found is not None
    assert (found.mean, found.std == found.std) == (measured["mean"], False)
    assert summary_of(other) is None


def test_records_of_an_older_ring() -> None:
    records = np.zeros(3, record_with(NUMBERS[:-1]))
    records["kind"], records["ready"], records["flags"] = TENSOR, [1, 2, 3], Flag.NUMBERS
    records["mean"] = 0.5
    columns = Decoder(records.dtype).decode(records.tobytes(), {})["tensors"]
    assert set(columns) == set(SCHEMAS["tensors"].names)
    assert columns["mean"].tolist() == [0.5] * 3
    assert columns[NUMBERS[-1].name].null_count == 3
