"""What ``tdbg run`` says when the program has ended: after a long run, with no memory, on Ctrl-C, whatever it did."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import tdbg
from tdbg.query.trace.trace import Trace
from tdbg.store.side_by_side import side_by_side

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(tdbg.__file__).parents[1]), "TF_CPP_MIN_LOG_LEVEL": "3"}
BAD_LINE = "tf.math.log(tf.constant([1.0, -1.0]))"


def run(folder: Path, program: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (folder / "train.py").write_text(program)
    command = [sys.executable, "-m", "tdbg", "run", "-o", "run.tdbg", *words]
    env = ENVIRONMENT | environment
    return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, timeout=240)


def own_lines(err: str) -> list[str]:
    lines = err.splitlines()
    first = next((at for at, line in enumerate(lines) if line.startswith("tdbg: ")), len(lines))
    return lines[first:]


# The ring takes these rows at full speed, as if the op had computed them: a run of real length without its hours.
LONG = f"""\
import atexit, os, sys, threading
import tensorflow as tf
import tdbg
from tdbg import native
from tdbg.query.verdict.verdict import explain

def later():
    tf.math.square(2.0)
    native.events().push_rows(0, 700_000)

def look(when):
    print(when, explain(tdbg.open("run.tdbg")).name, flush=True)

pid = os.fork()
if pid == 0:
    later()
    sys.exit(0)
print("child", os.waitpid(pid, 0)[1], flush=True)
{BAD_LINE}
native.events().push_rows(0, 1_400_000)

def on_a_thread():
    threading.main_thread().join()
    tdbg.recording.flush()
    look("thread")

threading.Thread(target=on_a_thread).start()
atexit.register(look, "atexit")
sys.exit(7)
"""


def test_a_long_run_has_its_verdict(tmp_path: Path) -> None:
    result = run(tmp_path, LONG, "train.py")
    lines = own_lines(result.stderr)
    assert result.returncode == 7, result.stderr
    assert result.stdout == "child 0\nthread bad_values\natexit bad_values\n"
    assert "Log → NaN" in lines[0]
    assert lines[1].endswith(BAD_LINE)
    assert lines[-1].startswith("next:  tdbg why run.tdbg")
    trace = Trace.open(tmp_path / "run.tdbg")
    assert [process.state for process in trace.processes] == ["ended", "ended"]
    assert len(list(tmp_path.glob("run.tdbg/*/tensors-*.parquet"))) > 5
    assert trace.problems == []


TIGHT = f"""\
import os, resource, sys
import tensorflow as tf
{BAD_LINE}
from tdbg import recording
recording.flush()
taken = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
room = taken + (200 << 20) if sys.argv[1] == "some" else int(sys.argv[1]) << 20
resource.setrlimit(resource.RLIMIT_AS, (room, room))
sys.exit(8)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not limit address space")
@pytest.mark.parametrize("room", ["some", "300"])
def test_without_memory_the_exit_status_stays(tmp_path: Path, room: str) -> None:
    result = run(tmp_path, TIGHT, "train.py", room)
    assert result.returncode == 8, result.stderr
    last = own_lines(result.stderr)[-1]
    if room == "some":
        assert last.startswith("next:  tdbg why run.tdbg")
    else:
        assert last.endswith("your program ended as it would have alone. Try again: tdbg why run.tdbg")
        assert "Traceback" not in result.stderr


# What a program may leave behind that must not reach the verdict.
HOSTILE = f"""\
import os, signal, sys
import tensorflow as tf
{BAD_LINE}
for number in (signal.SIGCHLD, signal.SIGALRM, signal.SIGTERM):
    signal.signal(number, lambda *_: 1 / 0)
signal.setitimer(signal.ITIMER_REAL, 0.2, 0.2)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGALRM])
for module in ("json", "socket", "numpy", "duckdb"):
    for folder in (".", "elsewhere"):
        open(f"{{folder}}/{{module}}.py", "w").write("raise RuntimeError('not meant for tdbg')")
os.environ.clear()
sys.path.clear()
os.chdir("elsewhere")
sys.exit(9)
"""


def test_the_programs_handlers_timers_and_modules_do_not_reach_the_verdict(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    result = run(tmp_path, HOSTILE, "--json", "train.py")
    assert result.returncode == 9, result.stderr
    assert json.loads(result.stderr.splitlines()[-1])["verdict"] == "bad_values"


# Python runs this in every process; only in the one that looks for the cause it does something.
IN_THE_SEARCH = """\
import os, signal, sys
if "tdbg.commands.last_word" in sys.orig_argv:
    {does}
"""
ENDINGS = {
    "Ctrl-C": ("os.kill(os.getppid(), signal.SIGINT); signal.pause()", "stopped looking for the cause"),
    "SIGTERM": ("os.kill(os.getppid(), signal.SIGTERM); signal.pause()", "stopped looking for the cause"),
    "crash": ("os.kill(os.getpid(), signal.SIGSEGV)", "the search for the cause ended early (by SIGSEGV)"),
    "no memory": ("os.kill(os.getpid(), signal.SIGKILL)", "the search for the cause ended early (by SIGKILL)"),
}


def test_a_search_that_fails_is_one_sentence_and_the_exit_status_stays(tmp_path: Path) -> None:
    program = """\
import os, sys
os.makedirs("run.tdbg", exist_ok=True)
open("run.tdbg/trace.json", "w").write('{"format": "tdbg", "version": 1}')
sys.exit(6)
"""
    for number, (does, said) in enumerate(ENDINGS.values()):
        (tmp_path / "sitecustomize.py").write_text(IN_THE_SEARCH.format(does=does))
        words = ["--force", "--json"] if number == 0 else ["--force"]
        result = run(tmp_path, program, *words, "train.py", PYTHONPATH=f"{ENVIRONMENT['PYTHONPATH']}:{tmp_path}")
        assert result.returncode == 6, result.stderr
        last = result.stderr.splitlines()[-1]
        if number == 0:
            answer = json.loads(last)
            assert answer["verdict"] == "unknown"
            last = "tdbg: " + answer["coverage"]["notes"][0]
        assert last == f"tdbg: {said}; your program ended as it would have alone. Try again: tdbg why run.tdbg"


def test_work_is_shared_and_its_failures_arrive() -> None:
    assert side_by_side(lambda n: n * n, range(100)) == [n * n for n in range(100)]
    assert side_by_side(str, []) == []
    with pytest.raises(ZeroDivisionError):
        side_by_side(lambda n: 1 // (n - 50), range(100))
