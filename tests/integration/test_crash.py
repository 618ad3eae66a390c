"""Programs that die, disks that fill up, children and second recordings: the program is as in Python, the trace whole.

What was flushed is never lost: a killed process misses at most its last half second.
"""

from __future__ import annotations

import os
import random
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest
from crash_recorder import BURST, published

import tdbg
from tdbg.__main__ import main
from tdbg.query.trace.trace import Trace

# Python would leave half a .pyc under the limit.
_LIMIT = "import sys; sys.dont_write_bytecode = True; resource.setrlimit(resource.RLIMIT_FSIZE, "
HERE = Path(__file__).parent
SOURCE = str(Path(tdbg.__file__).parents[1])
HALF_A_SECOND = 500_000_000
PATIENCE = 60  # seconds, on a busy machine
KILLS = int(os.environ.get("TDBG_KILLS", "100"))  # how often a recording is killed


@dataclass
class Result:
    status: int
    out: str
    err: str

    @property
    def own(self) -> list[str]:
        """What tdbg said, without the verdict."""
        return [line for line in self.err.splitlines() if line.startswith("tdbg: ") and " bad value" not in line]


def begin(words: list[str], folder: Path, **env: str) -> subprocess.Popen[str]:
    environment = {**os.environ, "PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3", **env}
    pipe = subprocess.PIPE
    return subprocess.Popen([sys.executable, *words], cwd=folder, env=environment, stdout=pipe, stderr=pipe, text=True)


def end(process: subprocess.Popen[str]) -> Result:
    out, err = process.communicate(timeout=240)
    return Result(process.returncode, out, err)


def python(words: list[str], folder: Path, **env: str) -> Result:
    return end(begin(words, folder, **env))


def tdbg_run(words: list[str], folder: Path, **env: str) -> Result:
    return python(["-m", "tdbg", "run", *words], folder, **env)


def assert_no_gaps(trace: Trace) -> None:
    """Up to the last tensor every event is there; calls are written before the tensors that name them."""
    tensors, calls = (trace.table(table)["seq"].to_numpy() for table in ("tensors", "executions"))
    numbers = np.concatenate([tensors, calls[calls < tensors.max()]])
    assert sorted(numbers.tolist()) == list(range(len(numbers)))


# ---- killed at any moment


@dataclass
class Producers:
    """Starts processes that record at full speed, each into its own trace."""

    folder: Path
    process: subprocess.Popen[str]

    def start(self, name: str) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture
def producers(tmp_path: Path) -> Iterator[Producers]:
    words = [sys.executable, str(HERE / "crash_recorder.py"), str(tmp_path)]
    pipe = subprocess.PIPE
    environment = {**os.environ, "PYTHONPATH": SOURCE}
    with subprocess.Popen(words, stdin=pipe, stdout=pipe, text=True, env=environment) as process:
        yield Producers(tmp_path, process)


def kill(pid: int) -> int:
    """Returns when it was killed, once it is gone."""
    gone = os.pidfd_open(pid)
    when = time.time_ns()
    os.kill(pid, signal.SIGKILL)
    select.select([gone], [], [])
    os.close(gone)
    return when


def wait_for_events(folder: Path, name: str, count: int) -> None:
    until = time.monotonic() + PATIENCE
    while not any(pushed >= count for pushed, *_ in published(folder, name)):
        assert time.monotonic() < until, f"{name} has recorded too little: {published(folder, name)}"
        time.sleep(0.01)


def assert_whole(trace: Path) -> int:
    """Returns how many rows it has, which are the first ones and as they were pushed."""
    opened = Trace.open(trace)
    rows = opened.table("tensors")
    numbers = rows["seq"].to_numpy()
    assert numbers.tolist() == list(range(len(rows)))
    assert (rows["op"].to_numpy() == numbers // BURST).all()
    assert (rows["max"].to_numpy() == np.maximum(8, numbers % BURST)).all()
    assert (rows["min"].to_numpy() == -6).all()
    assert opened.table("shapes")["dims"].to_pylist() == [[8]] or not len(rows)
    assert opened.processes[0].state == "died"
    assert opened.row_count("tensors") == len(rows)
    return len(rows)


@pytest.mark.timeout(max(300, 6 * KILLS))
def test_killed_at_random_moments(producers: Producers) -> None:
    """What is there is whole each time, and at most the last half a second is missing: half a second in which the
    process got to compute, for on a busy machine it may wait longer than that. Now and then its writer may not get its
    turn although the process does."""
    late = 0
    moments = random.Random(20).choices([0.03, 0.1, 0.2, 0.8], [4, 3, 2, 1], k=KILLS)
    for number, moment in enumerate(moments):
        name = str(number)
        pid = producers.start(name)
        wait_for_events(producers.folder, name, BURST)
        time.sleep(moment * random.Random(number).uniform(0.5, 1.5))
        killed = kill(pid)
        trace = producers.folder / f"{name}.tdbg"
        pushed = published(producers.folder, name)
        computed = pushed[-1][2]
        due = [count for count, when, then in pushed if max(when - killed, then - computed) < -HALF_A_SECOND]
        late += assert_whole(trace) < max(due, default=0)
        shutil.rmtree(trace)
    assert late <= KILLS / 50, f"{late} of {KILLS} are late"


def test_a_second_process_reads_while_the_first_records(producers: Producers) -> None:
    pid = producers.start("live")
    wait_for_events(producers.folder, "live", 20_000)
    trace = Trace.open(producers.folder / "live.tdbg")
    cursor, seen = None, 0
    until = time.monotonic() + 2 * PATIENCE
    while seen < 300_000:
        assert time.monotonic() < until, f"only {seen:,} rows came"
        cursor, batches = trace.tail(cursor)
        numbers = [batch["seq"].to_numpy() for batch in batches.get("tensors", [])]
        new = np.concatenate(numbers) if numbers else np.empty(0, np.int64)
        assert new.tolist() == list(range(seen, seen + len(new)))
        seen += len(new)
        assert trace.row_count("tensors") >= seen
        assert len(trace.table("tensors", ["seq"])) >= seen
        assert trace.connect().execute("SELECT count(*) FROM tensors").fetchall()[0][0] >= seen
        assert sum(trace.rollup("steps")["rows"].to_pylist()) >= seen
        assert trace.problems == []
    assert trace.processes[0].state == "running"
    assert any(path.suffix == ".parquet" for path in trace.processes[0].folder.iterdir())
    kill(pid)


def test_memory_does_not_grow_with_the_recording(tmp_path: Path) -> None:
    result = python([str(HERE / "crash_recorder.py"), "--memory", "1000000"], tmp_path)
    assert float(result.out) <= 200
    assert Trace.open(tmp_path / "run.tdbg").row_count("tensors") == 1_001_000


TRAINS_ON = """\
import sys, tensorflow as tf
x = tf.constant([1.0, 2.0])
for n in range(1_000_000):
    y = x * float(n)
    print(n, flush=True)
"""


def test_training_killed_at_random_moments(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINS_ON)
    names = [f"{n}.tdbg" for n in range(3)]
    processes = [begin(["-m", "tdbg", "run", "-o", name, "train.py"], tmp_path) for name in names]
    for n, (name, process) in enumerate(zip(names, processes, strict=True)):
        assert process.stdout is not None
        due, began = 0, 0.0
        for line in process.stdout:  # what was printed half a second ago is on disk
            began = began or time.monotonic()
            if time.monotonic() > began + 0.5 + 0.2 * n:
                break
            if time.monotonic() < began + 0.2 * n:
                due = int(line)
        process.kill()
        assert end(process).status == -signal.SIGKILL
        trace = Trace.open(tmp_path / name)
        assert_no_gaps(trace)
        assert trace.connect().execute("SELECT count(*) FROM ops WHERE type = 'Mul'").fetchall() == [(1,)]
        assert np.count_nonzero(trace.table("tensors")["op"].to_numpy() == mul_of(trace)) >= due
        assert main(["why", str(tmp_path / name)]) == 0


def mul_of(trace: Trace) -> int:
    return next(row["op"] for row in trace.table("ops").to_pylist() if row["type"] == "Mul")


# ---- every way to end

LOG = """\
import os, signal, sys, time
import tensorflow as tf
print(float(tf.reduce_sum(tf.math.log(tf.constant([1.0, 0.0])))), flush=True)
time.sleep(0.5)  # a process that does not end by itself may lose this much
"""
ENDS = {
    "exit": ("sys.exit(3)", 3, "ended"),
    "exception": ("raise ValueError('mine')", 1, "ended"),
    "interrupt": ("os.kill(os.getpid(), signal.SIGINT)\nwhile True: pass", -signal.SIGINT, "ended"),
    "terminate": ("os.kill(os.getpid(), signal.SIGTERM)\nwhile True: pass", -signal.SIGTERM, "died"),
    "exit at once": ("os._exit(7)", 7, "died"),
    "abort": ("os.abort()", -signal.SIGABRT, "died"),
}


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Path, Result]]:
    folder = tmp_path_factory.mktemp("ends")
    processes = {}
    for name, (code, _, _) in ENDS.items():
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(LOG + code + "\n")
        processes[name] = begin(["-m", "tdbg", "run", "-o", "run.tdbg", "train.py"], folder / name)
    return {name: (folder / name / "run.tdbg", end(process)) for name, process in processes.items()}


@pytest.mark.parametrize("name", ENDS)
def test_ends_as_in_python_with_a_trace(
    ended: dict[str, tuple[Path, Result]], name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    _, status, state = ENDS[name]
    trace, result = ended[name]
    assert (result.status, result.out) == (status, "-inf\n")
    assert ("ValueError: mine" in result.err) == (name == "exception")
    assert Trace.open(trace).processes[0].state == state
    assert main(["why", str(trace)]) == 1
    assert "Log → -inf" in capsys.readouterr().out
    assert main(["info", str(trace)]) == 0
    assert state in capsys.readouterr().out


# ---- no room

COUNTS = """\
import pathlib, resource, sys, tensorflow as tf
{before}
x = tf.Variable([1.0, 2.0])
def is_begun():
    return any(file.stat().st_size for file in pathlib.Path(sys.argv[1]).glob("*/tensors-*"))
for n in range(20_000):
    y = x * float(n)
    while n == 400 and not is_begun():  # a fast machine would fill the disk with what is written first
        pass
print(y.numpy().tolist())
sys.exit(4)
"""


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path | None]:
    """1 MB, where this process may mount one."""
    folder = tmp_path / "small disk"
    folder.mkdir()
    is_mounted = mount("size=1m", folder)
    yield folder if is_mounted else None
    if is_mounted:
        subprocess.run(["umount", str(folder)], check=True, timeout=240)


def mount(options: str, folder: Path) -> bool:
    words = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    is_possible = os.geteuid() == 0 and shutil.which("mount") is not None
    return is_possible and not subprocess.run(words, capture_output=True, timeout=240).returncode


def test_a_full_disk(tmp_path: Path, small_disk: Path | None, capsys: pytest.CaptureFixture[str]) -> None:
    before = "" if small_disk else f"{_LIMIT}(1_000_000, 1_000_000))"
    trace = (small_disk or tmp_path) / "run.tdbg"
    (tmp_path / "train.py").write_text(COUNTS.format(before=before))
    result = tdbg_run(["-o", str(trace), "train.py", str(trace)], tmp_path)
    assert (result.status, result.out) == (4, "[19999.0, 39998.0]\n")
    assert len(result.own) == 1, result.err
    assert "recording stopped, your program continues" in result.own[0]
    assert ("No space left on device" if small_disk else "File too large") in result.own[0]
    written = Trace.open(trace)
    assert_no_gaps(written)
    process, tables = written.processes[0], ("tensors", "executions")
    rows, lost = sum(map(written.row_count, tables)), process.end_counts("lost")
    assert 1000 < rows < 40_000
    assert process.state == "ended"
    assert process.end is not None
    assert process.end["events"] == rows + sum(lost.get(table, 0) for table in tables) + process.end["unwritten"]
    for command in ("info", "why"):
        assert main([command, str(trace)]) == 0
        assert "events could not be written" in " ".join(capsys.readouterr().out.split())


FILLS = """\
from crash_recorder import start
import resource, sys
recorder, lib = start("run.tdbg")
{spoil}
for turn in range(10):
    lib.push_rows(turn, 1000)
    recorder.flush()
recorder.stop()
print("done")
"""
SPOILS = {
    "limit": (f"{_LIMIT}(200_000, 200_000))", "File too large"),
    "removed": ("import shutil; shutil.rmtree('run.tdbg')", "its folder was removed"),
}


@pytest.mark.parametrize("name", SPOILS)
def test_files_that_cannot_be_written_any_more(tmp_path: Path, name: str) -> None:
    spoil, reason = SPOILS[name]
    words = ["-c", FILLS.format(spoil=spoil)]
    result = python(words, tmp_path, PYTHONPATH=f"{SOURCE}{os.pathsep}{HERE}", TDBG_STRICT="1")
    assert (result.status, result.out) == (0, "done\n")
    assert result.err.count("\n") == 1
    assert f"the trace can no longer be written ({reason}); recording stopped, your program continues" in result.err
    assert (tmp_path / "run.tdbg").exists() == (name == "limit")
    if name == "limit":
        (sentence,) = Trace.open(tmp_path / "run.tdbg").problems
        rows = Trace.open(tmp_path / "run.tdbg").row_count("tensors")
        assert sentence.endswith(f"(File too large); {10_000 - rows:,} events could not be written.")


@pytest.fixture
def unwritable(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "locked"
    folder.mkdir(mode=0o555)
    if os.geteuid():
        yield folder
        return
    if not mount("ro,size=64k", folder):
        pytest.skip("root may write everywhere, and no disk can be mounted here")
    yield folder
    subprocess.run(["umount", str(folder)], check=True, timeout=240)


def test_an_unwritable_place_is_known_before_the_program_runs(tmp_path: Path, unwritable: Path) -> None:
    result = tdbg_run(["-o", "locked/run.tdbg", "-c", "print(1)"], tmp_path)
    assert (result.status, result.out) == (2, "")
    assert result.err.count("\n") == 1
    assert "not writable; choose another place with -o" in result.err
    result = tdbg_run(["-c", "print(1)"], unwritable)
    assert (result.status, result.out) == (2, "")


@pytest.mark.parametrize("output", ["output='locked/run.tdbg'", ""], ids=["named", "default"])
def test_enable_in_an_unwritable_place(tmp_path: Path, unwritable: Path, output: str) -> None:
    code = f"import tdbg\ntry: tdbg.enable({output})\nexcept tdbg.TdbgError as error: print(error)"
    result = python(["-c", code], tmp_path if output else unwritable)
    assert "not writable; choose another place with -o or tdbg.enable(output=...)" in result.out


# ---- several recordings

MULTIPLIES = "import tensorflow as tf\nprint(float(tf.constant(2.0) * 3.0))\n"


def test_two_programs_in_one_folder(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(MULTIPLIES)
    results = [end(process) for process in [begin(["-m", "tdbg", "run", "train.py"], tmp_path) for _ in range(2)]]
    assert [(result.status, result.out) for result in results] == [(0, "6.0\n")] * 2
    traces = list(tmp_path.glob("tdbg-train.py.*.tdbg"))
    assert len(traces) == 2
    for trace in traces:
        assert [process.state for process in Trace.open(trace).processes] == ["ended"]


def test_the_same_place_twice(tmp_path: Path, ended: dict[str, tuple[Path, Result]]) -> None:
    name = "a b ä 数.tdbg"
    first = Trace.open(shutil.copytree(ended["exit"][0], tmp_path / name)).processes[0].name
    (tmp_path / "train.py").write_text(MULTIPLIES)
    second = tdbg_run(["-o", name, "train.py"], tmp_path)
    assert (second.status, second.out) == (2, "")
    assert "to overwrite it, use --force" in second.err
    assert Trace.open(tmp_path / name).processes[0].name == first
    forced = tdbg_run(["--force", "-o", name, "train.py"], tmp_path)
    assert (forced.status, forced.out) == (0, "6.0\n")
    assert forced.err.endswith(f"next:  tdbg info '{name}'   or   tdbg serve '{name}'\n")
    assert first not in [process.name for process in Trace.open(tmp_path / name).processes]
    assert main(["info", str(tmp_path / name)]) == 0


ENABLES = """\
import tdbg, tensorflow as tf
tdbg.enable(output="own.tdbg")
x = tf.math.log(tf.constant(0.0))
path = tdbg.disable()
print(path.name, tdbg.open(path).row_count("tensors") > 0)
with tdbg.watch(): y = tf.math.sqrt(x)
"""


def test_enable_under_run_leaves_the_recording_alone(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(ENABLES)
    result = tdbg_run(["-o", "run.tdbg", "train.py"], tmp_path)
    assert (result.status, result.out) == (0, "run.tdbg True\n")
    line = "tdbg: tdbg run is already recording this program with its own options; this tdbg.enable() is ignored"
    assert result.own == [line]
    assert [path.name for path in tmp_path.glob("*.tdbg")] == ["run.tdbg"]
    assert types_of(Trace.open(tmp_path / "run.tdbg"), 0) >= {"Log", "Sqrt"}


def test_enable_twice_is_an_error() -> None:
    tdbg.enable()
    try:
        with pytest.raises(tdbg.TdbgError, match=r"call tdbg\.disable\(\) first"):
            tdbg.enable()
    finally:
        tdbg.disable()


# ---- children


def types_of(trace: Trace, process: int) -> set[str]:
    """Types of the ops that tensors of one process name; all of them known there, each once."""
    ops = [row for row in trace.table("ops").to_pylist() if row["process"] == process]
    types = {row["op"]: row["type"] for row in ops}
    assert len(types) == len(ops)
    stacks = {row["stack"] for row in trace.table("stacks").to_pylist() if row["process"] == process}
    assert {row["stack"] for row in ops} <= stacks | {-1}
    rows = trace.table("tensors")
    return {types[op] for op in rows["op"].to_numpy()[rows["process"].to_numpy() == process].tolist()}


FORKS = """\
import os, sys, time
import tensorflow as tf
x = tf.constant(4.0)
print(float(tf.math.square(x)), flush=True)

def child(work):
    pid = os.fork()
    if pid == 0:
        time.sleep(0.3)  # the parent has gone on and written ops of the same numbers
        work()
    return pid

def grandchild():
    child(lambda: (tf.math.sin(x), os.wait, sys.exit(8)))
    sys.exit(os.waitstatus_to_exitcode(os.wait()[1]))

def at_once():
    tf.math.exp(x); time.sleep(0.5); os._exit(6)

pids = [child(work) for work in (lambda: (tf.math.cos(x), sys.exit(5)), at_once, grandchild, lambda: os._exit(9))]
tf.math.sqrt(x)
print([os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in pids], flush=True)
if os.fork() == 0:
    tf.math.tan(x)
else:
    os.wait()
"""


def test_forked_children(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(FORKS)
    result = tdbg_run(["-o", "run.tdbg", "train.py"], tmp_path)
    assert (result.status, result.out, result.own) == (0, "16.0\n[5, 6, 8, 9]\n", [])
    trace = Trace.open(tmp_path / "run.tdbg")
    found = [types_of(trace, process.index) - {"Square"} for process in trace.processes]
    assert found[0] == {"Sqrt"}
    assert sorted(map(sorted, found[1:])) == [["Cos"], ["Exp"], ["Sin"], ["Tan"]]
    ends = {next(iter(types)): process.state for types, process in zip(found, trace.processes, strict=True)}
    assert ends == {"Sqrt": "ended", "Cos": "ended", "Exp": "died", "Sin": "ended", "Tan": "ended"}
    assert trace.problems == []


CHILDREN = """\
import multiprocessing, sys
import tensorflow as tf

def work(n):
    return float(tf.math.log(tf.constant(float(n))))

if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    print(float(tf.math.square(2.0)), flush=True)
    if "process" in sys.argv:
        process = context.Process(target=work, args=(3,))
        process.start()
        process.join()
        print(process.exitcode, flush=True)
    if "pool" in sys.argv:
        pool = context.Pool(1)
        print(pool.map(work, [1]), flush=True)
        pool.close()
        pool.join()
"""


@pytest.mark.parametrize("words", ["fork process pool", "spawn process", "forkserver pool"])
def test_children_of_multiprocessing(tmp_path: Path, words: str) -> None:
    (tmp_path / "train.py").write_text(CHILDREN)
    result = tdbg_run(["-o", "run.tdbg", "train.py", *words.split()], tmp_path)
    printed = "4.0\n" + "0\n" * ("process" in words) + "[0.0]\n" * ("pool" in words)
    assert (result.status, result.out, result.own) == (0, printed, []), result.err
    trace = Trace.open(tmp_path / "run.tdbg")
    count = len(words.split())
    assert [process.state for process in trace.processes] == ["ended"] * count
    assert [types_of(trace, index) for index in range(count)] == [{"Square"}] + [{"Log"}] * (count - 1)
    for process in range(count):
        frames = trace.table("frames").to_pylist()
        assert any(row["process"] == process and row["file"].endswith("train.py") for row in frames)


def test_forks_while_events_rush_in(tmp_path: Path) -> None:
    """A writer that is never done does not keep a fork waiting."""
    code = """\
import os, sys, threading
from crash_recorder import start
recorder, lib = start(sys.argv[1])
stop = []
def push():
    while not stop: lib.push_rows(0, 10_000)
thread = threading.Thread(target=push); thread.start()
for _ in range(8):
    recorder.hold(); recorder.release()
    recorder.flush()
stop.append(1); thread.join(); recorder.stop()
"""
    result = python(["-c", code, "run.tdbg"], tmp_path, PYTHONPATH=f"{SOURCE}{os.pathsep}{HERE}")
    assert (result.status, result.err) == (0, "")
    numbers = Trace.open(tmp_path / "run.tdbg").table("tensors", ["seq"])["seq"].to_numpy()
    assert numbers.tolist() == list(range(len(numbers)))
