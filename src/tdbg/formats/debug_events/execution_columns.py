"""Keeps the executions of a DebugEvents directory as columns: they are few beside its traces."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from tdbg.formats.debug_events.columns import Columns


class ExecutionColumns:
    """The chunks of the execution file, kept whole."""

    def __init__(self) -> None:
        self.chunks: list[Columns] = []

    def add(self, chunk: Columns) -> None:
        self.chunks.append(chunk)

    @property
    def rows_per_execution(self) -> np.ndarray:
        counts = [np.empty(0, np.int64)]
        for chunk in self.chunks:
            owner = np.repeat(np.arange(len(chunk.events)), chunk.events["tensors"])
            kept = owner[chunk.tensors["proto_length"] > 0]
            counts.append(np.bincount(kept, minlength=len(chunk.events)).astype(np.int64))
        return np.concatenate(counts)

    def ids(self, kind: str) -> pa.Array:
        """Input or output tensor ids of every execution."""
        lengths, values = [np.zeros(1, np.int64)], [np.empty(0, np.int64)]
        for chunk in self.chunks:
            events = chunk.events
            count = events[kind].astype(np.int64)
            begin = events["first_id"] + (events["inputs"] if kind == "outputs" else 0)
            within = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count)
            values.append(chunk.ids[np.repeat(begin, count) + within])
            lengths.append(count)
        offsets = np.cumsum(np.concatenate(lengths)).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), pa.array(np.concatenate(values)))
