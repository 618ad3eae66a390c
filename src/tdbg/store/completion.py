"""Fills in columns that earlier versions of tdbg did not write, where something above the store knows how."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa

# By table. Each takes sound rows, and gives them back with what they lack.
COMPLETIONS: dict[str, Callable[[pa.Table], pa.Table]] = {}


def completed_batches(table: str, batches: list[pa.RecordBatch]) -> list[pa.RecordBatch]:
    if table not in COMPLETIONS or not batches:
        return batches
    return completed(table, pa.Table.from_batches(batches)).to_batches()


def completed(table: str, rows: pa.Table) -> pa.Table:
    complete = COMPLETIONS.get(table)
    return complete(rows) if complete is not None and len(rows) else rows
