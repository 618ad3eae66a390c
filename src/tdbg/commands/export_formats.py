"""Writes traces in the formats that ``tdbg export`` knows."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from tdbg.query.trace.trace import Trace

_CHUNK = 100_000


class Format(NamedTuple):
    """One format; ``write`` makes the output, which does not exist yet, and says in words what is in it."""

    title: str
    is_folder: bool
    write: Callable[[Trace, Path], list[str]]


def _write_debug_events(trace: Trace, output: Path) -> list[str]:
    from tdbg.formats.debug_events.exporter import export_process

    several = len(trace.processes) > 1
    lines = []
    for process in trace.processes:
        done = export_process(trace, process, output / process.name if several else output)
        where = f"{process.name}: " if several else ""
        lines.append(f"{where}{done.executions:,} executions and {done.traces:,} graph execution traces")
        if done.left_out:
            lines.append(f"{where}{done.left_out:,} tensors do not fit this format: values that came in, kept inputs")
    if several:
        lines.append("TensorFlow reads one process per folder, so each process has a folder of its own inside")
    return lines


def _write_dumps(trace: Trace, output: Path) -> list[str]:
    from tdbg.formats.dumps.exporter import export_process

    several = len(trace.processes) > 1
    lines = []
    for process in trace.processes:
        done = export_process(trace, process, output / process.name if several else output)
        where = f"{process.name}: " if several else ""
        lines.append(f"{where}{done.runs:,} runs and {done.tensors:,} dumps")
        if done.left_out:
            lines.append(
                f"{where}{done.left_out:,} tensors do not fit this format: eager ones, inner graphs, kept inputs"
            )
    return lines


def _write_parquet(trace: Trace, output: Path) -> list[str]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    from tdbg.store.format import SCHEMAS
    from tdbg.store.sql import record_batches

    output.mkdir()
    connection = trace.connect(alerts=False)
    rows = 0
    for table in SCHEMAS:
        batches = record_batches(connection, f"SELECT * FROM {table}", [], _CHUNK)
        schema = pa.schema([pa.field("process", pa.int32()), *SCHEMAS[table]])
        with pq.ParquetWriter(output / f"{table}.parquet", schema, compression="zstd") as writer:
            for batch in batches:
                writer.write_table(pa.Table.from_batches([batch]).cast(schema))
                rows += batch.num_rows
    return [f"{rows:,} rows in {len(SCHEMAS)} files"]


def _write_npz(trace: Trace, output: Path) -> list[str]:
    """Writes values one at a time, so that only one is in memory."""
    import numpy as np

    from tdbg.errors import TdbgError
    from tdbg.store.tensors import RawValue

    index: dict[str, list] = {name: [] for name in ("process", "seq", "step", "name", "type", "slot", "flags", "key")}
    rows = trace.connect(alerts=False).execute(
        "SELECT t.process, t.seq, t.step, o.name, o.type, t.slot, t.flags, t.value FROM tensors t "
        "JOIN ops o USING (process, op) WHERE t.value >= 0 ORDER BY t.process, t.seq"
    )
    written: set[str] = set()
    unreadable = 0
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED) as archive:

        def put(key: str, array: np.ndarray) -> None:
            with archive.open(f"{key}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)

        for process, *facts, value in rows.fetchall():
            key = f"value-{process}-{value}"
            if key not in written:
                try:
                    array = trace.value(process, value)
                except TdbgError:
                    unreadable += 1
                    continue
                put(key, np.frombuffer(array.data, np.uint8) if isinstance(array, RawValue) else array)
                written.add(key)
            for name, fact in zip(index, (process, *facts, key), strict=True):
                index[name].append(fact)
        for name, column in index.items():
            put(f"index.{name}", np.array(column, dtype=None if column else np.int64))
    lines = [f"{len(written):,} values of {len(index['key']):,} tensors"]
    return [*lines, f"{unreadable:,} values are damaged and were left out"] if unreadable else lines


FORMATS = {
    "tfdbg2": Format("a folder for TensorBoard's Debugger V2", True, _write_debug_events),
    "tfdbg1": Format("a dump root for TensorFlow's Session debugger", True, _write_dumps),
    "parquet": Format("a folder of Parquet files, one for each table", True, _write_parquet),
    "npz": Format("one file with the tensors that were kept whole", False, _write_npz),
}
