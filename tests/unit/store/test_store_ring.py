"""A program that keeps its last events in a ring is killed; they are still there, and nothing torn is among them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from store_rows import SOURCE

from tdbg import native
from tdbg.native.record import RECORD, RING_FILE, RING_HEADER_BYTES
from tdbg.store import tensors
from tdbg.store.reader import StoredTrace

CAPACITY = 64

PROGRAM = """
import os, signal, sys
from tdbg import native
from tdbg.capture.recorder import Recorder
from tdbg.config import make_config

lib = native.events()
assert lib.IS_NATIVE == int(os.environ["TDBG_NATIVE"])
recorder = Recorder(make_config(output=sys.argv[1], ring={capacity}), lib, {{}})
lib.set_recording(True)
lib.push_rows(0, {rows})
call = lib.call_begin(1, 2, [], [])
lib.push_rows(3, 5)
lib.call_end(call, 1, [])
{then}
"""


def run(folder: Path, rows: int = 1000, implementation: str = "0", then: str = "die") -> StoredTrace:
    ending = {
        "die": "recorder.flush(); os.kill(os.getpid(), signal.SIGKILL)",
        "end": "recorder.stop()",
        "die while writing": "recorder._write_all(True); os.kill(os.getpid(), signal.SIGKILL)",
    }[then]
    path = folder / "run.tdbg"
    code = PROGRAM.format(capacity=CAPACITY, rows=rows, then=ending)
    environment = os.environ | {"PYTHONPATH": SOURCE, "TDBG_NATIVE": implementation, "TDBG_STRICT": "1"}
    done = subprocess.run([sys.executable, "-W", "error", "-c", code, path], env=environment, check=False, timeout=240)
    assert done.returncode == (0 if then == "end" else -signal.SIGKILL)
    return StoredTrace.open(path)


def ring_file(trace: StoredTrace) -> Path:
    return trace.processes[0].folder / RING_FILE


def tear(trace: StoredTrace, slot: int, ready: int) -> None:
    with open(ring_file(trace), "r+b") as file:
        file.seek(RING_HEADER_BYTES + slot * RECORD.itemsize)
        file.write(ready.to_bytes(8, "little"))


@pytest.mark.parametrize("implementation", ["0", "1"] if native.AVAILABLE else ["0"])
def test_the_last_events_of_a_killed_program_are_there(tmp_path: Path, implementation: str) -> None:
    trace = run(tmp_path, implementation=implementation)
    tensors = trace.table("tensors")
    assert tensors["seq"].to_pylist() == [*range(943, 1000), *range(1001, 1006)]
    assert tensors["op"].to_pylist() == [0] * 57 + [3] * 5
    assert tensors["max"].to_pylist()[:57] == list(range(943, 1000))
    assert tensors["value"].to_pylist() == [-1] * 62
    assert trace.table("executions")["seq"].to_pylist() == [1000]
    assert trace.table("ends")["failed"].to_pylist() == [False]
    assert trace.row_count("tensors") == 62
    assert trace.table("shapes")["dims"].to_pylist() == [[8]]
    assert trace.problems == []
    assert trace.connect().execute("SELECT count(*), max(seq) FROM tensors").fetchall() == [(62, 1005)]


def test_a_ring_that_is_not_full_yet(tmp_path: Path) -> None:
    trace = run(tmp_path, rows=3)
    assert trace.table("tensors")["seq"].to_pylist() == [0, 1, 2, 4, 5, 6, 7, 8]
    assert trace.problems == []


def test_a_program_that_ends_leaves_segments_and_no_ring(tmp_path: Path) -> None:
    trace = run(tmp_path, then="end")
    assert not ring_file(trace).exists()
    assert trace.row_count("tensors") == 62
    assert trace.problems == []


def test_a_program_killed_while_it_writes_the_rows_leaves_none_twice(tmp_path: Path) -> None:
    trace = run(tmp_path, then="die while writing")
    assert ring_file(trace).exists()
    assert len(trace.table("tensors")["seq"].unique()) == trace.row_count("tensors") == 62
    assert (trace.row_count("executions"), trace.row_count("ends")) == (1, 1)


def test_torn_records_are_skipped_and_counted(tmp_path: Path) -> None:
    trace = run(tmp_path)
    tear(trace, 943 % CAPACITY, 0)  # was being written
    tear(trace, 950 % CAPACITY, 5)  # belongs elsewhere
    assert trace.table("tensors")["seq"].to_pylist() == [*range(944, 950), *range(951, 1000), *range(1001, 1006)]
    (problem,) = trace.problems
    assert problem.startswith("2 of the last events in ")


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (lambda data: data[:20], "shorter than its header"),
        (lambda data: b"X" + data[1:], "not a ring file"),
        (lambda data: data[:8] + b"\x63" + data[9:], "version 99"),
        (lambda data: data[:-200], "should hold 64"),
    ],
)
def test_a_damaged_ring_is_left_out_and_said(tmp_path: Path, damage: object, reason: str) -> None:
    trace = run(tmp_path)
    path = ring_file(trace)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    assert trace.row_count("tensors") == 0
    assert any(reason in problem for problem in trace.problems)


def test_random_bytes_are_never_shown_as_events_of_another_slot(tmp_path: Path) -> None:
    trace = run(tmp_path)
    path = ring_file(trace)
    data = bytearray(path.read_bytes())
    noise = np.random.default_rng(3).integers(0, 256, 32 * RECORD.itemsize, np.uint8).tobytes()
    data[RING_HEADER_BYTES : RING_HEADER_BYTES + len(noise)] = noise
    path.write_bytes(data)
    shown = sum(trace.row_count(table) for table in ("tensors", "executions", "ends"))
    assert shown == 32
    assert any("32 of the last events" in problem for problem in trace.problems)


def test_values_that_only_overwritten_events_had_are_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One value is put again and again, and stays; the others go with their files once they are old."""
    monkeypatch.setattr(tensors, "BLOB_BYTES", 4096)
    values = tensors.ValueWriter(tmp_path)
    again = np.zeros(8)
    for n in range(200):
        values.put(np.full(64, n).tobytes(), 1, [64])
        values.put(again.tobytes(), 1, [8])
        values.remove_before(20)
    left = {file.name for file in tmp_path.glob("values-*.blob")}
    assert "values-000001.blob" in left and 2 <= len(left) <= 5
    assert values.put(again.tobytes(), 1, [8])[1] is None  # it is still known
    assert values.put(np.full(64, 30).tobytes(), 1, [64])[1] is not None  # it is gone, and stored anew
    values.close()
