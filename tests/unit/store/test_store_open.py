"""Opening what is no trace says in one sentence what is wrong and what to do."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from store_rows import columns, new_writer, tensor_columns

from tdbg.errors import TdbgError
from tdbg.store.format import SCHEMAS, VERSION
from tdbg.store.hotfile import HotFile
from tdbg.store.reader import StoredTrace


def test_a_missing_trace(tmp_path: Path) -> None:
    with pytest.raises(TdbgError, match=r"no trace here; record one with: tdbg run -o run\.tdbg"):
        StoredTrace.open(tmp_path / "run.tdbg")


def test_a_file_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "run.tdbg"
    path.write_text("x")
    with pytest.raises(TdbgError, match="a trace is a folder"):
        StoredTrace.open(path)


def test_another_folder_is_no_trace(tmp_path: Path) -> None:
    with pytest.raises(TdbgError, match="not a tdbg trace"):
        StoredTrace.open(tmp_path)
    (tmp_path / "trace.json").write_text('{"format": "other", "version": 1}')
    with pytest.raises(TdbgError, match="names a different format"):
        StoredTrace.open(tmp_path)


@pytest.mark.parametrize("text", ["", "{", "[]", "\x00\x01"])
def test_unreadable_json(tmp_path: Path, text: str) -> None:
    (tmp_path / "trace.json").write_text(text)
    with pytest.raises(TdbgError, match=r"trace.json cannot be read .* write"):
        StoredTrace.open(tmp_path)


def test_a_newer_trace_names_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text(json.dumps({"format": "tdbg", "version": VERSION + 1}))
    with pytest.raises(TdbgError, match=rf"version {VERSION + 1} .* up to version {VERSION}; .*pip install --upgrade"):
        StoredTrace.open(tmp_path)
    with pytest.raises(TdbgError, match="pip install --upgrade"):
        new_writer(tmp_path)


def test_columns_come_and_go_between_versions(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("tensors", tensor_columns(4))
    writer.close({})
    sealed = writer.folder / "tensors-000001.parquet"
    rows = pq.read_table(sealed)
    pq.write_table(rows.drop_columns(["value"]).append_column("later", rows["seq"]), sealed)
    (writer.folder / "tensors-000001.crc32").unlink()
    steps = HotFile(writer.folder / "steps.arrows")
    steps.write_batch(pa.record_batch({"step": pa.array([7], pa.int32()), "mood": ["fine"]}))
    steps.close()

    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.table("tensors").drop_columns("process").schema == SCHEMAS["tensors"]
    assert trace.table("tensors", ["seq", "value"])["value"].to_pylist() == [-1] * 4
    assert len(trace.table("tensors", ["value"])) == 4
    assert trace.table("steps").to_pylist() == [{"process": 0, "step": 7, "seq": -1, "time": -1, "source": ""}]
    assert trace.connect().execute("SELECT max(seq), max(value) FROM tensors").fetchall() == [(3, -1)]


def test_an_empty_trace(tmp_path: Path) -> None:
    (tmp_path / "trace.json").write_text('{"format": "tdbg", "version": 1}')
    with pytest.raises(TdbgError, match="trace is empty"):
        StoredTrace.open(tmp_path)


def test_a_damaged_process_json_costs_only_what_it_said(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("steps", columns("steps", 2))
    writer.close({})
    (writer.folder / "process.json").write_text("{")
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.row_count("steps") == 2
    assert trace.processes[0].info["pid"] == os.getpid()
    assert "process.json cannot be read" in trace.problems[0]


def test_unknown_tables_and_columns(tmp_path: Path) -> None:
    trace = StoredTrace.open(new_writer(tmp_path / "run.tdbg").folder.parent)
    with pytest.raises(TdbgError, match="no table tensor; it has tensors, "):
        trace.table("tensor")
    with pytest.raises(TdbgError, match="no column nans; it has seq, "):
        trace.table("tensors", ["nans"])
    assert trace.table("ops").num_rows == trace.row_count("ops") == 0
    assert trace.first_bad() is None


def test_recording_over_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("x")
    with pytest.raises(TdbgError, match="contains other files"):
        new_writer(tmp_path)
    with pytest.raises(TdbgError, match="Cannot record here"):
        new_writer(tmp_path / "thesis.tex" / "run.tdbg")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_without_leave_to_write(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(TdbgError, match="Permission denied"):
        new_writer(tmp_path / "run.tdbg")


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a file system that nobody can write to")
def test_a_file_system_that_cannot_be_written() -> None:
    with pytest.raises(TdbgError, match="Cannot record here"):
        new_writer(Path("/proc/run.tdbg"))
