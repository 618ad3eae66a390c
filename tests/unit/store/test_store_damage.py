"""Nothing half-written is shown as whole, and what is lost is counted and said."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from store_rows import SOURCE, columns, hot_file, new_writer, tensor_columns, without_process

from tdbg.store.file_frames import Frame, Gap, frame_parts, read_frames
from tdbg.store.format import MAGIC
from tdbg.store.reader import StoredTrace


def test_a_cut_at_any_byte_leaves_the_whole_frames_before_it(tmp_path: Path) -> None:
    path = hot_file(tmp_path, batches=3, rows=2)
    whole = path.read_bytes()
    with open(path, "rb") as file:
        ends = [frame.end for frame in read_frames(file)]
    assert len(ends) == 4  # a schema and three batches
    assert ends[-1] == len(whole)
    rows = without_process(StoredTrace.open(tmp_path / "run.tdbg").table("steps"))
    for size in range(len(whole)):
        path.write_bytes(whole[:size])
        trace = StoredTrace.open(tmp_path / "run.tdbg")
        batches = max(sum(end <= size for end in ends) - 1, 0)
        assert without_process(trace.table("steps")) == rows[: 2 * batches], size
        assert trace.row_count("steps") == 2 * batches
        assert trace.problems == [], "while the program runs a torn tail is normal"


@pytest.mark.parametrize("table", ["steps", "tensors"])
def test_a_flipped_bit_anywhere_is_reported_and_never_read(tmp_path: Path, table: str) -> None:
    path = hot_file(tmp_path, table, batches=3, rows=2)
    (path.parent / "end.json").write_text(json.dumps({"rows": {table: 6}}))
    whole = bytearray(path.read_bytes())
    rows = without_process(StoredTrace.open(tmp_path / "run.tdbg").table(table))
    batches = [rows[:2], rows[2:4], rows[4:]]
    with open(path, "rb") as file:
        schema_end = next(read_frames(file)).end
    step = 1 if table == "steps" else 7
    for at in range(0, len(whole), step):
        whole[at] ^= 1 << at % 8
        path.write_bytes(whole)
        whole[at] ^= 1 << at % 8
        trace = StoredTrace.open(tmp_path / "run.tdbg")
        found = without_process(trace.table(table))
        missing_one = [[row for batch in batches if batch is not lost for row in batch] for lost in batches]
        assert found in missing_one or (found == [] and at < schema_end), at
        assert trace.problems, at


def test_reading_goes_on_after_damage_in_the_middle(tmp_path: Path) -> None:
    path = hot_file(tmp_path, batches=5, rows=2)
    with open(path, "rb") as file:
        frames = list(read_frames(file))
    data = bytearray(path.read_bytes())
    data[frames[2].position + 50] ^= 255
    path.write_bytes(data)

    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.table("steps")["seq"].to_pylist() == [0, 1, 4, 5, 6, 7, 8, 9]
    assert trace.problems == [
        f"{frames[2].end - frames[2].position} bytes in the middle of {path.parent.name}/steps.arrows are damaged; "
        "the rows there are not shown."
    ]


def test_a_frame_inside_a_damaged_frame_is_not_taken_for_one(tmp_path: Path) -> None:
    inner = b"".join(frame_parts(2, 1, b"payload", 0))
    outer = bytearray(b"".join(frame_parts(2, 1, b"12345678" + inner, 0)))
    outer[40] ^= 1
    path = tmp_path / "file"
    path.write_bytes(outer)
    assert inner.count(MAGIC) == 1
    with open(path, "rb") as file:
        assert list(read_frames(file)) == [Gap(0, len(outer), is_tail=True)]


def test_a_header_may_claim_any_length(tmp_path: Path) -> None:
    path = tmp_path / "file"
    first = bytearray(b"".join(frame_parts(2, 1, b"one", 0)))
    first[16:24] = (2**63).to_bytes(8, "little")
    path.write_bytes(first + b"".join(frame_parts(2, 1, b"two", len(first))))
    with open(path, "rb") as file:
        gap, frame = read_frames(file)
    assert gap == Gap(0, len(first), is_tail=False)
    assert isinstance(frame, Frame)
    assert bytes(frame.payload) == b"two"


def test_an_unreadable_parquet_file_is_left_out_and_said(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg", segment_bytes=1)
    for batch in range(3):
        writer.append("tensors", tensor_columns(10, batch * 10, bad=(25,)))
        writer.flush()
        writer.seal_if_large()
    writer.close({})
    sealed = writer.folder / "tensors-000002.parquet"
    sealed.write_bytes(sealed.read_bytes()[:-20])

    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.table("tensors")["seq"].to_pylist() == [*range(10), *range(20, 30)]
    assert trace.row_count("tensors") == 20
    assert trace.connect().execute("SELECT count(*) FROM tensors").fetchone() == (20,)
    assert len(trace.problems) == 2
    assert "tensors-000002.parquet cannot be read" in trace.problems[0]
    assert "10 of 30 rows of tensors are missing" in trace.problems[1]


def test_a_flipped_bit_of_a_parquet_file_is_never_shown(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("tensors", tensor_columns(50))
    writer.close({})
    sealed = writer.folder / "tensors-000001.parquet"
    whole = bytearray(sealed.read_bytes())
    for at in range(0, len(whole), len(whole) // 40):
        whole[at] ^= 1 << at % 8
        sealed.write_bytes(whole)
        whole[at] ^= 1 << at % 8
        trace = StoredTrace.open(tmp_path / "run.tdbg")
        assert len(trace.table("tensors")) == 0, at
        assert trace.connect().execute("SELECT count(*) FROM tensors").fetchone() == (0,), at
        assert "tensors-000001.parquet cannot be read and was left out" in trace.problems[0], at


def test_damaged_hot_segments_are_not_sealed(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    for batch in range(3):
        writer.append("tensors", tensor_columns(10, batch * 10))
        writer.flush()
    hot = writer.folder / "tensors-000001.arrows"
    data = bytearray(hot.read_bytes())
    data[len(data) // 2] ^= 1
    hot.write_bytes(data)
    writer.close({})

    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.row_count("tensors") == 20
    assert "are damaged" in trace.problems[0]


WRITER = f"""
import sys
sys.path[:0] = [{SOURCE!r}, {str(Path(__file__).parent)!r}]
from store_rows import columns, new_writer, tensor_columns
writer = new_writer(sys.argv[1], segment_bytes=60_000)
print("ready", flush=True)
for batch in range(10**9):
    writer.append("tensors", tensor_columns(50, batch * 50))
    writer.append("steps", columns("steps", 1, batch))
    writer.flush()
    writer.seal_if_large()
    print(batch + 1, flush=True)
"""


@pytest.mark.parametrize("batches", [1, 4, 9, 14, 20])
def test_everything_flushed_outlives_a_kill(tmp_path: Path, batches: int) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "run.tdbg")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        for _ in range(batches):
            flushed = int(child.stdout.readline())
        child.send_signal(signal.SIGKILL)
        child.wait()
        said = child.stdout.read().split()
        flushed = int(said[-1]) if said else flushed

    trace = StoredTrace.open(tmp_path / "run.tdbg")
    seq = trace.table("tensors")["seq"].to_pylist()
    assert seq == list(range(len(seq)))
    assert len(seq) >= 50 * flushed
    assert trace.row_count("steps") * 50 >= len(seq), "steps are written before the tensors that refer to them"
    assert trace.processes[0].state == "died"
    assert trace.row_count("tensors") == len(seq)


def test_a_reader_keeps_up_with_a_writer_that_seals(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WRITER, str(tmp_path / "run.tdbg")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        try:
            assert child.stdout.readline() == "ready\n"
            trace = StoredTrace.open(tmp_path / "run.tdbg")
            cursor, seen, whole = None, [], []
            while len(seen) < 5000:
                assert child.stdout.readline(), "the writer has ended"
                cursor, new = trace.tail(cursor)
                seen += [seq for part in new.get("tensors", []) for seq in part["seq"].to_pylist()]
                whole = trace.table("tensors", ["seq"])["seq"].to_pylist()
                assert seen == list(range(len(seen)))
                assert whole == list(range(len(whole)))
                assert len(seen) <= len(whole) <= trace.row_count("tensors")
        finally:
            child.kill()
    assert trace.problems == []


DISK_FULL = f"""
import resource, sys
sys.path[:0] = [{SOURCE!r}, {str(Path(__file__).parent)!r}]
from store_rows import new_writer, tensor_columns
writer = new_writer(sys.argv[1], segment_bytes=int(sys.argv[2]))
sys.dont_write_bytecode = True  # Python would leave half a .pyc
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[3]), resource.RLIM_INFINITY))
failed = 0
for batch in range(40):
    try:
        writer.append("tensors", tensor_columns(50, batch * 50))
        writer.flush()
        writer.seal_if_large()
    except OSError:
        failed += 1
        if failed == 3:
            break
assert failed == 3
before = writer.rows["tensors"]
waiting = sum(batch.num_rows for batch in writer._buffered["tensors"])
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.flush()
print(before, before + waiting)
"""


def test_a_full_disk_raises_and_the_trace_stays_readable(tmp_path: Path) -> None:
    # The limit on a file's size fails as a full disk does: part of a frame is written, then OSError.
    command = [sys.executable, "-c", DISK_FULL, str(tmp_path / "run.tdbg"), "10000000", "50000"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=240)
    before, after = map(int, done.stdout.split())
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert 0 < before < after
    assert trace.table("tensors")["seq"].to_pylist() == list(range(after))
    assert trace.problems == []


def test_a_full_disk_while_sealing_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow.parquet as pq

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    writer = new_writer(tmp_path / "run.tdbg", segment_bytes=1)
    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    for batch in range(3):
        writer.append("tensors", tensor_columns(10, batch * 10))
        writer.flush()
        with pytest.raises(OSError, match="No space"):
            writer.seal_if_large()
    assert StoredTrace.open(tmp_path / "run.tdbg").row_count("tensors") == 30
    assert not list(writer.folder.glob("*.part"))

    monkeypatch.undo()
    writer.close({})
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.table("tensors")["seq"].to_pylist() == list(range(30))
    assert not list(writer.folder.glob("tensors*.arrows"))
    assert trace.problems == []


def test_close_counts_what_it_could_not_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("steps", columns("steps", 2))
    writer.flush()
    writer.append("steps", columns("steps", 5, 2))

    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "writev", full)
    with pytest.raises(OSError, match="No space"):
        writer.close({"status": 1})
    trace = StoredTrace.open(tmp_path / "run.tdbg")
    assert trace.row_count("steps") == 2
    assert trace.processes[0].end is not None
    assert trace.processes[0].end["lost"] == {"steps": 5}
    assert "5 rows of steps" in trace.problems[0]


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    writer = new_writer(tmp_path / "run.tdbg")
    writer.append("steps", columns("steps", 2))
    writer.flush()
    writer.append("steps", columns("steps", 2, 2))
    size = (writer.folder / "steps.arrows").stat().st_size
    writer.discard_after_fork()
    writer.close({"status": 0})
    assert (writer.folder / "steps.arrows").stat().st_size == size
    assert not (writer.folder / "end.json").exists()
    with pytest.raises(ValueError, match="closed"):
        writer.flush()
