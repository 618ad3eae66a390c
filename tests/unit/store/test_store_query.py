"""Rollups, the first bad row, values, SQL and the live tail agree with the rows."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from store_rows import SOURCE, columns, new_writer, tensor_columns

from tdbg.errors import TdbgError
from tdbg.model import DType
from tdbg.store import segments, tables, tensors
from tdbg.store.reader import StoredTrace
from tdbg.store.sql import check_is_query


def record(
    trace: Path, bad: tuple[int, ...] = (), batches: int = 12, close: bool = False, **options: int
) -> StoredTrace:
    writer = new_writer(trace, **options)
    for batch in range(batches):
        writer.append("tensors", tensor_columns(40, batch * 40, bad))
        writer.append("steps", columns("steps", 1, batch))
        writer.flush()
        writer.seal_if_large()
    if close:
        writer.close({})
    return StoredTrace.open(trace)


STATES = pytest.mark.parametrize(
    "options",
    [{"segment_bytes": 1 << 30}, {"segment_bytes": 25_000}, {"segment_bytes": 25_000, "close": True}],
    ids=["hot", "mixed", "sealed"],
)


@STATES
def test_rollups_equal_group_bys(tmp_path: Path, options: dict) -> None:
    record(tmp_path / "run.tdbg", bad=(77, 78, 301), **options)
    trace = record(tmp_path / "run.tdbg", bad=(5,), batches=3, **options)
    connection = trace.connect()
    always = """count(*) AS rows, min(seq) AS first_seq, max(seq) AS last_seq,
        count(*) FILTER (flags & 1 = 1) AS bad, coalesce(min(seq) FILTER (flags & 1 = 1), -1) AS first_bad_seq"""
    by_op = connection.execute(
        f"""SELECT process, op, slot, {always}, min(step), max(step), coalesce(sum(neg_inf), 0),
        coalesce(sum(pos_inf), 0), coalesce(sum(nan), 0),
        min(min) FILTER (NOT isnan(min) AND flags & 2 = 2), max(max) FILTER (NOT isnan(max) AND flags & 2 = 2),
        min(shape) FILTER (flags & 16 = 0), max(shape) FILTER (flags & 16 = 0)
        FROM tensors GROUP BY ALL ORDER BY ALL"""
    ).fetchall()
    by_step = connection.execute(f"SELECT process, step, {always} FROM tensors GROUP BY ALL ORDER BY ALL").fetchall()
    assert [tuple(row.values()) for row in trace.rollup("ops").to_pylist()] == by_op
    assert [tuple(row.values()) for row in trace.rollup("steps").to_pylist()] == by_step


def test_readers_of_a_growing_trace_share_what_never_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, looked, checksum = tmp_path / "run.tdbg", [], segments.checksum
    monkeypatch.setattr(segments, "checksum", lambda file: looked.append(file.name) or checksum(file))
    writer = new_writer(path, segment_bytes=25_000)

    def add(batches: range) -> None:
        for batch in batches:
            writer.append("tensors", tensor_columns(200, batch * 200))
            writer.append("steps", columns("steps", 1, batch))
            writer.flush()
            writer.seal_if_large()

    add(range(4))
    one = StoredTrace.open(path)
    one.connect()
    one.rollup("ops")
    one.table("steps")
    add(range(4, 8))
    other = one.another()
    for reader in (other, one):
        reader.connect()
    assert len(looked) == len(set(looked)) > 2
    alone = StoredTrace.open(path)
    for reader in (other, one):
        assert reader.row_count("tensors") == 1600
        assert reader.table("steps").equals(alone.table("steps"))
        for kind in ("ops", "steps"):
            assert reader.rollup(kind).equals(alone.rollup(kind))


@STATES
@pytest.mark.parametrize("bad", [(), (0,), (479,), (77, 78, 301)])
def test_the_first_bad_row(tmp_path: Path, options: dict, bad: tuple[int, ...]) -> None:
    trace = record(tmp_path / "run.tdbg", bad=bad, **options)
    row = trace.first_bad()
    if not bad:
        assert row is None
        return
    everything = trace.table("tensors")
    assert json.dumps(row) == json.dumps(everything.slice(bad[0], 1).to_pylist()[0])


def test_the_first_bad_row_among_processes_is_the_earliest(tmp_path: Path) -> None:
    record(tmp_path / "run.tdbg", bad=(400,))
    trace = record(tmp_path / "run.tdbg", bad=(300,))
    row = trace.first_bad()
    assert row is not None
    assert (row["process"], row["seq"]) == (1, 300)


def test_rows_that_come_from_elsewhere_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = record(tmp_path / "run.tdbg", batches=1)
    ring = pa.table(tensor_columns(5, 100, bad=(102,)))
    ring = ring.cast(trace.table("tensors").drop_columns("process").schema)
    monkeypatch.setattr(tables, "EXTRA_ROWS", [lambda folder, table: ring if table == "tensors" else None])
    row = trace.first_bad()
    assert trace.row_count("tensors") == len(trace.table("tensors")) == 45
    assert row is not None
    assert row["seq"] == 102
    assert sum(trace.rollup("ops")["rows"].to_pylist()) == 45
    assert trace.connect().execute("SELECT count(*) FROM tensors").fetchone() == (45,)


def test_equal_values_are_stored_once(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    array = np.arange(12, dtype=np.float32)
    ids = [
        writer.put_value(array.data, DType.FLOAT32, [3, 4]),
        writer.put_value(array.tobytes(), DType.FLOAT32, [3, 4]),
        writer.put_value(array.data, DType.FLOAT32, [4, 3]),
        writer.put_value(array.data, DType.INT32, [3, 4]),
        writer.put_value(b"", DType.FLOAT32, [0]),
        writer.put_value(np.float64(2.5).tobytes(), DType.FLOAT64, []),
    ]
    writer.flush()
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert ids == [0, 0, 1, 2, 3, 4]
    assert trace.row_count("values") == 5
    np.testing.assert_array_equal(trace.value(0, 0), array.reshape(3, 4), strict=True)
    np.testing.assert_array_equal(trace.value(0, 1), array.reshape(4, 3), strict=True)
    assert trace.value(0, 3).shape == (0,)
    assert trace.value(0, 4) == 2.5
    with pytest.raises(TdbgError, match="kept no value 5"):
        trace.value(0, 5)
    writer.put_value(b"abc", DType.STRING, [])
    writer.flush()
    assert trace.value(0, 5) == tensors.RawValue(b"abc", DType.STRING, ())


def test_every_number_type_comes_back(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    kinds = [kind for kind in DType if kind.is_number]
    wanted = [bytes(range(2 * _bytes(kind))) for kind in kinds]
    for kind, data in zip(kinds, wanted, strict=True):
        writer.put_value(data, kind, [2])
    writer.flush()
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    for value, (kind, data) in enumerate(zip(kinds, wanted, strict=True)):
        array = trace.value(0, value)
        assert isinstance(array, np.ndarray), kind
        assert array.tobytes() == data
        assert array.shape == (2,)


def _bytes(kind: DType) -> int:
    if kind is DType.BOOL or kind.name.startswith("FLOAT8"):
        return 1
    bits = int("".join(character for character in kind.name if character.isdigit()))
    return bits // 8


def test_a_value_is_shown_only_when_its_hash_is_right(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.put_value(b"\x01" * 400, DType.UINT8, [400])
    writer.put_value(bytes(range(200)), DType.UINT8, [200])
    writer.flush()
    blob = writer.folder / "values-000001.blob"
    whole = bytearray(blob.read_bytes())
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.value(0, 0).tobytes() == b"\x01" * 400
    assert trace.value(0, 1).tobytes() == bytes(range(200))
    for at in range(len(whole)):
        whole[at] ^= 16
        blob.write_bytes(whole)
        whole[at] ^= 16
        trace = StoredTrace.open(tmp_path / "run.tdbg")
        with pytest.raises(TdbgError, match="damaged"):
            trace.value(0, 0)
            trace.value(0, 1)
    blob.write_bytes(whole)
    row = StoredTrace.open(tmp_path / "run.tdbg").table("values").to_pylist()[1]
    with pytest.raises(TdbgError, match="does not match its hash"):
        tensors.read_value(writer.folder, row | {"hash": bytes(16)})
    with pytest.raises(TdbgError, match="does not match its hash"):
        tensors.read_value(writer.folder, row | {"dims": [100, 2]})
    blob.unlink()
    with pytest.raises(TdbgError, match="No such file"):
        tensors.read_value(writer.folder, row)


def test_blobs_are_cut_and_old_hashes_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tensors, "BLOB_BYTES", 100)
    monkeypatch.setattr(tensors, "REMEMBERED", 2)
    writer = new_writer(tmp_path / "run.tdbg")
    ids = [writer.put_value(bytes([n]) * 60, DType.UINT8, [60]) for n in (0, 1, 2, 2, 0, 0)]
    writer.close({})
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert ids == [0, 1, 2, 2, 3, 3]
    assert len(list(writer.folder.glob("values-*.blob"))) > 1
    assert [int(trace.value(0, value)[0]) for value in range(4)] == [0, 1, 2, 0]


def test_the_tail_follows_across_sealing_and_new_processes(tmp_path: Path) -> None:
    path = tmp_path / "run.tdbg"
    writer = new_writer(path, segment_bytes=25_000)
    cursor, seen = None, []
    trace = StoredTrace.open(path)
    for batch in range(31):
        writer.append("tensors", tensor_columns(40, batch * 40))
        writer.append("steps", columns("steps", 1, batch))
        writer.flush()
        if batch % 4 == 1:  # a reader that looks now and then, before and after a segment was sealed
            cursor, new = trace.tail(json.loads(json.dumps(cursor)))
            seen += [seq for part in new["tensors"] for seq in part["seq"].to_pylist()]
            assert sum(part.num_rows for part in new["steps"]) == (2 if batch == 1 else 4)
        if batch % 3 == 0:
            writer.seal_if_large()
    writer.close({})
    cursor, new = trace.tail(cursor)
    seen += [seq for part in new.get("tensors", []) for seq in part["seq"].to_pylist()]
    assert seen == list(range(1240))
    assert trace.tail(cursor) == (cursor, {})

    other = new_writer(path)
    other.append("steps", columns("steps", 2))
    other.flush()
    cursor, new = trace.tail(cursor)
    assert [part["process"].to_pylist() for part in new["steps"]] == [[1, 1]]
    assert [process.state for process in trace.processes] == ["ended", "running"]


def test_the_tail_waits_for_a_frame_to_be_whole(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    writer.append("steps", columns("steps", 2))
    writer.flush()
    cursor, _ = trace.tail()
    writer.append("steps", columns("steps", 2, 2))
    writer.flush()
    path = writer.folder / "steps.arrows"
    whole = path.read_bytes()
    path.write_bytes(whole[:-9])
    again, new = trace.tail(cursor)
    assert (again, new) == (cursor, {})
    path.write_bytes(whole)
    _, new = trace.tail(again)
    assert [part["seq"].to_pylist() for part in new["steps"]] == [[2, 3]]


@STATES
def test_sql_sees_every_table_and_nothing_else(tmp_path: Path, options: dict) -> None:
    trace = record(tmp_path / "it's a run.tdbg", bad=(77,), **options)
    secret = tmp_path / "secret.parquet"
    secret.write_bytes(b"x")
    connection = trace.connect()
    assert connection.execute("SELECT min(seq), process FROM tensors WHERE flags & 1 = 1 GROUP BY 2").fetchall() == [
        (77, 0)
    ]
    assert connection.execute("SELECT count(*) FROM steps").fetchone() == (12,)
    assert connection.execute("SELECT count(*) FROM notes").fetchone() == (0,)
    for statement in (
        f"SELECT * FROM '{secret}'".replace("'s", "''s"),
        "SELECT * FROM read_text('/etc/hostname')",
        "SELECT * FROM glob('/*')",
        "ATTACH '/tmp/other.db'",
        "SET enable_external_access = true",
        "COPY tensors TO '/tmp/copy.parquet'",
    ):
        with pytest.raises(Exception, match=r"disabled|locked|Permission|access"):
            connection.execute(statement)


def test_only_queries_pass(tmp_path: Path) -> None:
    connection = record(tmp_path / "run.tdbg", batches=1).connect()
    for allowed in ("SELECT 1", "WITH a AS (SELECT 1) FROM a", "DESCRIBE tensors", "SELECT 1; SELECT 2", "FROM ops"):
        check_is_query(connection, allowed)
    for refused in (
        "COPY ops TO 'x' (USE_TMP_FILE false)",
        "SELECT 1; DROP VIEW ops",
        "EXPLAIN ANALYZE COPY ops TO 'x'",
    ):
        with pytest.raises(TdbgError, match="A trace can only be queried"):
            check_is_query(connection, refused)


def test_importing_the_package_loads_no_arrow() -> None:
    code = f"import sys; sys.path.insert(0, {SOURCE!r}); import tdbg.store; assert 'pyarrow' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=240)


def test_reading_needs_neither_duckdb_nor_compute(tmp_path: Path) -> None:
    record(tmp_path / "run.tdbg", bad=(7,), close=True)
    code = f"""
import sys
sys.path.insert(0, {SOURCE!r})
from tdbg.store.reader import StoredTrace
trace = StoredTrace.open(sys.argv[1])
assert trace.row_count("tensors") == 480 and trace.first_bad()["seq"] == 7 and len(trace.rollup("steps"))
assert not {{"duckdb", "pyarrow.compute", "pyarrow.dataset", "pyarrow.acero"}} & sys.modules.keys(), "slow imports"
"""
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "run.tdbg")], check=True, timeout=240)


def test_the_size_is_that_of_all_files(tmp_path: Path) -> None:
    trace = record(tmp_path / "run.tdbg", close=True)
    assert trace.size_bytes() == sum(path.stat().st_size for path in trace.path.rglob("*") if path.is_file())
