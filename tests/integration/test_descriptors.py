"""Programs that close descriptors they do not know and open files of their own: tdbg never writes into those."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import tdbg
from tdbg.query.trace.trace import Trace

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(tdbg.__file__).parents[1]), "TF_CPP_MIN_LOG_LEVEL": "3"}

# As a daemon does, in the middle of training; then every number that tdbg could have had is a file of the program's.
DAEMON = """\
import os, resource, sys
import tensorflow as tf
from tdbg import native, recording

def compute():
    tf.math.log(tf.constant([float(len(mine)), -1.0]))  # a value that is kept whole, too
    native.events().push_rows(0, 260_000)  # enough to be sealed
    recording.flush()

mine = []
compute()
most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
last = 256 if sys.argv[1] == "some" else most
for turn in range(2):
    for fd in mine:
        os.close(fd)
    os.closerange(3, last)
    mine = [os.open(f"mine-{turn}-{n}", os.O_RDWR | os.O_CREAT) for n in range(200)]
    compute()
recording.end_recording()
print(sum(os.fstat(fd).st_size for fd in mine), all(os.lseek(fd, 0, os.SEEK_CUR) == 0 for fd in mine))
"""


@pytest.mark.parametrize("which", ["some", "all"])
def test_the_programs_files_stay_its_own(tmp_path: Path, which: str) -> None:
    (tmp_path / "train.py").write_text(DAEMON)
    words = [sys.executable, "-m", "tdbg", "run", "-o", "run.tdbg", "train.py", which]
    result = subprocess.run(words, cwd=tmp_path, env=ENVIRONMENT, capture_output=True, text=True, timeout=240)
    # when it has ended, nothing of tdbg's is in its files, none was closed or moved, and the trace is whole
    assert (result.returncode, result.stdout) == (0, "0 True\n"), result.stderr
    assert all(path.stat().st_size == 0 for path in tmp_path.glob("mine-*"))
    trace = Trace.open(tmp_path / "run.tdbg")
    assert trace.problems == []
    assert trace.row_count("tensors") > 3 * 260_000
    assert [process.stopped for process in trace.processes] == [""]
    (kept,) = trace.connect().sql("SELECT max(value) FROM tensors").fetchall()
    assert trace.value(0, kept[0]) is not None
    assert "tdbg: first bad value" in result.stderr


# Without TensorFlow; every number that tdbg has is taken, high ones too.
TAKEN = """\
import os, sys
from pathlib import Path
from crash_recorder import start
recorder, lib = start(Path("run.tdbg"))
lib.push_rows(1, 1000)
recorder.flush()
theirs = [int(fd) for fd in os.listdir("/proc/self/fd") if int(fd) > 2]
os.closerange(3, 5000)
if sys.argv[1] == "gone":
    next(Path("run.tdbg").glob("*/tensors*")).unlink()
first = os.open("mine", os.O_RDWR | os.O_CREAT)
mine = [os.dup2(first, fd) for fd in theirs if fd != first]
lib.push_rows(1, 1000)
recorder.stop()
print(len(mine) > 2, {os.fstat(fd).st_size for fd in mine}, os.lseek(first, 0, os.SEEK_CUR))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="lists its descriptors in /proc")
@pytest.mark.parametrize("case", ["closed", "gone"])
def test_taken_descriptors_are_noticed_and_a_file_that_is_gone_stops_the_recording(tmp_path: Path, case: str) -> None:
    environment = {**ENVIRONMENT, "PYTHONPATH": f"{ENVIRONMENT['PYTHONPATH']}{os.pathsep}{Path(__file__).parent}"}
    words = [sys.executable, "-c", TAKEN, case]
    result = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=240)
    assert (result.returncode, result.stdout) == (0, "True {0} 0\n"), result.stderr
    if case == "closed":
        assert result.stderr == ""
        assert Trace.open(tmp_path / "run.tdbg").row_count("tensors") == 2000
    else:
        assert result.stderr.count("\n") == 1
        assert "the trace can no longer be written (No such file or directory); recording stopped" in result.stderr
