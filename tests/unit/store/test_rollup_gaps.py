"""Stored rollups of a trace that somebody changed: an empty cell counts nothing."""

from __future__ import annotations

import pyarrow as pa

from tdbg.store import rollup


def test_an_empty_count_in_a_stored_rollup_is_none() -> None:
    wanted = rollup.schema("ops")
    given = {field.name: pa.array([1, 2], pa.int64()).cast(field.type) for field in wanted}
    given["nan"] = pa.array([3, None], wanted.field("nan").type)
    merged = rollup.merge([pa.table(given, wanted)], "ops")
    assert merged["nan"].to_pylist() == [3, 0]
