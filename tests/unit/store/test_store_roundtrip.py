"""What is appended comes back: every table, hot and sealed, one process and several."""

from __future__ import annotations

import json
import struct
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from store_rows import columns, new_writer, tensor_columns, without_process

from tdbg.store.format import SCHEMAS, SEALED_TABLES
from tdbg.store.reader import StoredTrace
from tdbg.store.soundness import sound_rows


def cells(kind: pa.DataType) -> st.SearchStrategy:
    if pa.types.is_list(kind):
        return st.lists(cells(kind.value_type), max_size=4)
    if pa.types.is_boolean(kind):
        return st.booleans()
    if pa.types.is_floating(kind):
        return st.floats(allow_nan=False)
    if pa.types.is_string(kind):
        return st.text(max_size=20)
    if pa.types.is_fixed_size_binary(kind):
        return st.binary(min_size=kind.byte_width, max_size=kind.byte_width)
    bounds = np.iinfo(kind.to_pandas_dtype())
    return st.integers(int(bounds.min), int(bounds.max))


def rows_of(table: str) -> st.SearchStrategy:
    return st.lists(st.fixed_dictionaries({field.name: cells(field.type) for field in SCHEMAS[table]}), max_size=6)


@pytest.mark.parametrize("table", SCHEMAS)
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_every_table_comes_back_as_written(table: str, data: st.DataObject) -> None:
    batches = data.draw(st.lists(rows_of(table), max_size=3))
    with tempfile.TemporaryDirectory() as folder:
        writer = new_writer(Path(folder) / "run.tdbg", segment_bytes=1)
        written = []
        for batch in batches:
            writer.append(table, {name: [row[name] for row in batch] for name in SCHEMAS[table].names})
            writer.flush()
            if data.draw(st.booleans()):
                writer.seal_if_large()
            written += batch
        trace = StoredTrace.open(writer.folder.parent)
        sound, wrong = sound_rows(table, pa.Table.from_pylist(written, SCHEMAS[table]))
        for _ in ("while it runs", "after it ended"):
            if not wrong:
                assert without_process(trace.table(table)) == sound.to_pylist()
            assert trace.row_count(table) == len(sound)
            assert trace.table(table).schema.remove(0) == SCHEMAS[table]
            assert wrong or trace.problems == []
            writer.close({"status": 0})


def test_a_reader_written_from_the_specification_alone(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    for batch in range(3):
        writer.append("ops", columns("ops", 2, 2 * batch))
        writer.flush()
    data, stream, rows, at = (writer.folder / "ops.arrows").read_bytes(), b"", 0, 0
    while at < len(data):
        magic, crc, kind, count, size, position = struct.unpack_from("<4sIIIQQ", data, at)
        end = at + 32 + (size + 7) // 8 * 8
        assert (magic, crc, position) == (b"TDBF", zlib.crc32(data[at + 8 : end]), at)
        assert kind == (2 if at else 1)
        stream, rows, at = stream + data[at + 32 : at + 32 + size], rows + count, end

    assert rows == 6
    with pa.ipc.open_stream(stream) as reader:
        assert reader.read_all() == StoredTrace.open(tmp_path / "run.tdbg").table("ops").drop_columns("process")


def test_not_a_number_survives(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("tensors", columns("tensors", 3, min=[np.nan, -np.inf, -0.0]))
    writer.close({})
    given = StoredTrace.open(tmp_path / "run.tdbg").table("tensors", ["min"])["min"].to_pylist()
    assert np.array(given).tobytes() == np.array([np.nan, -np.inf, -0.0]).tobytes()


def test_sealed_and_hot_segments_are_one_table(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg", segment_bytes=20_000)
    for batch in range(20):
        writer.append("tensors", tensor_columns(50, batch * 50))
        writer.flush()
        writer.seal_if_large()
    names = {path.suffix for path in writer.folder.glob("tensors-??????.*")}
    trace = StoredTrace.open(tmp_path / "run.tdbg")

    assert names == {".parquet", ".arrows", ".crc32"}
    assert trace.table("tensors", ["seq"])["seq"].to_pylist() == list(range(1000))
    assert trace.table("tensors", ["seq"]).column_names == ["process", "seq"]
    assert trace.row_count("tensors") == 1000


def test_a_sealed_segment_wins_over_its_hot_one(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("tensors", tensor_columns(10))
    writer.flush()
    hot = writer.folder / "tensors-000001.arrows"
    kept = hot.read_bytes()
    writer.close({})
    hot.write_bytes(kept)  # as if the process had died between renaming the one and removing the other

    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.row_count("tensors") == len(trace.table("tensors")) == 10


def test_two_processes_share_a_trace(tmp_path: Path) -> None:
    first, second = (new_writer(tmp_path / "run.tdbg") for _ in range(2))
    first.append("steps", columns("steps", 2))
    second.append("steps", columns("steps", 3))
    first.close({"status": 0})
    second.flush()

    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.table("steps")["process"].to_pylist() == [0, 0, 1, 1, 1]
    assert [process.state for process in trace.processes] == ["ended", "running"]
    assert trace.processes[0].end is not None
    assert trace.processes[0].end["status"] == 0
    assert trace.processes[0].end["rows"]["steps"] == 2


def test_close_leaves_only_sealed_large_tables(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    for table in SCHEMAS:
        writer.append(table, columns(table, 3))
    writer.close({"status": 0})
    hot = {path.stem for path in writer.folder.glob("*.arrows")}
    assert hot == SCHEMAS.keys() - SEALED_TABLES
    assert not list(writer.folder.glob("*.part"))
    assert json.loads((writer.folder / "end.json").read_text())["rows"] == dict.fromkeys(SCHEMAS, 3)
    assert writer.bytes_written > 0


@pytest.mark.parametrize(
    ("table", "given", "says"),
    [
        ("nothing", {}, "no table 'nothing'"),
        ("stacks", {"stack": [1], "parents": [1]}, "frame, parent, parents"),
        ("stacks", {"stack": [1], "parent": [1, 2], "frame": [1]}, "different lengths"),
        ("stacks", {"stack": ["x"], "parent": [1], "frame": [1]}, r"stacks\.stack"),
        ("stacks", {"stack": [None], "parent": [1], "frame": [1]}, "empty cell"),
        ("stacks", {"stack": np.array([1.5]), "parent": [1], "frame": [1]}, r"stacks\.stack"),
        ("shapes", {"shape": [2**40], "dims": [[1]]}, r"shapes\.shape"),
    ],
)
def test_what_does_not_fit_is_refused(tmp_path: Path, table: str, given: dict, says: str) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    with pytest.raises(ValueError, match=says):
        writer.append(table, given)


def test_names_that_are_no_text_are_kept_as_well_as_can_be(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("frames", columns("frames", 1, file=["caf\udce9.py"]))
    writer.flush()
    assert StoredTrace.open(tmp_path / "run.tdbg").table("frames")["file"].to_pylist() == ["caf?.py"]


def test_numbers_that_were_not_computed_are_null(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("tensors", tensor_columns(50))
    writer.close({})
    rows = StoredTrace.open(tmp_path / "run.tdbg").table("tensors").to_pylist()
    assert {row["nan"] is None for row in rows} == {True, False}
    assert all((row["nan"] is None) == (row["flags"] & 2 == 0) for row in rows)


def test_a_reused_buffer_does_not_change_what_was_appended(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    buffer = np.arange(3, dtype=np.int32)
    writer.append("stacks", {"stack": buffer, "parent": buffer - 1, "frame": buffer})
    buffer[:] = 9
    writer.flush()
    assert StoredTrace.open(tmp_path / "run.tdbg").table("stacks")["stack"].to_pylist() == [0, 1, 2]
