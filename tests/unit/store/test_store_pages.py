"""Rows by position: together, scattered and out of order, from sealed and hot segments, they are those of the table."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from store_rows import new_writer, tensor_columns

from tdbg.store import row_pages as pages
from tdbg.store import seal
from tdbg.store.reader import StoredTrace

ROWS = 5000


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StoredTrace:
    """Sealed pages in some segments, and rows that are still hot."""
    monkeypatch.setattr(seal, "ROW_GROUP_ROWS", 700)
    monkeypatch.setattr(pages, "_BLOCK", 64)
    writer = new_writer(tmp_path / "run.tdbg", segment_bytes=250_000)
    for first in range(0, ROWS, 100):
        writer.append("tensors", tensor_columns(100, first))
        writer.flush()
        writer.seal_if_large()
    return StoredTrace.open(tmp_path / "run.tdbg")


@pytest.mark.parametrize(
    "positions",
    [
        np.arange(10),
        np.arange(60, 70),  # two blocks
        np.arange(4990, 4700, -1),  # backwards
        np.arange(0, ROWS, 41),  # scattered
        np.array([4999, 0, 2500, 2500, 1, 4999]),  # twice the same
        np.array([], np.int64),
    ],
)
def test_rows_come_in_the_order_asked_for(trace: StoredTrace, positions: np.ndarray) -> None:
    found = trace.pages(0)
    assert len(found) == ROWS
    assert len(found.pages) > 4
    assert {page.segment is None for page in found.pages} == {True, False}
    expected = trace.table("tensors").drop_columns(["process"]).take(positions)
    for _ in range(2):  # read, and remembered
        np.testing.assert_equal(found.rows(positions).to_pylist(), expected.to_pylist())
    assert found.scan("seq").tolist() == list(range(ROWS))
