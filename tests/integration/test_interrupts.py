"""Ctrl-C on a real terminal, or another signal, while a program is debugged: it is held where it is."""

from __future__ import annotations

import contextlib
import os
import pty
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

import tdbg

TRAIN = """\
import os
import tensorflow as tf
x, rounds = tf.constant(1.0), 0
while not os.path.exists("stop"):
    x = tf.math.sin(x) + 1.0  # the place
    rounds += 1
    if rounds == 20:
        print("ready", flush=True)
    if os.path.exists("ask"):
        os.remove("ask")
        print("going on", flush=True)
print("ended", flush=True)
"""


RUN = ("-m", "tdbg", "run", "-q", "-o", "run.tdbg")
PATIENCE = 120  # seconds; then a program is killed, and the test that waits for its words sees the end of them
_started: list[tuple[int, threading.Timer]] = []  # each leads a process group of its own


@pytest.fixture(autouse=True)
def programs_end_with_the_test() -> Iterator[None]:
    yield
    while _started:
        pid, timer = _started.pop()
        timer.cancel()
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                _end(pid)
                os.waitpid(pid, 0)


def _end(pid: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def _started_now(pid: int) -> None:
    timer = threading.Timer(PATIENCE, _end, [pid])
    timer.daemon = True
    timer.start()
    _started.append((pid, timer))


class Terminal:
    """A program on a terminal of its own."""

    def __init__(self, folder: Path, *words: str) -> None:
        self._pid, self._descriptor = pty.fork()
        if self._pid == 0:
            os.chdir(folder)
            os.environ.update(TERM="dumb", PAGER="cat", TF_CPP_MIN_LOG_LEVEL="3", TDBG_STATE=str(folder))
            os.environ["PYTHONPATH"] = str(Path(tdbg.__file__).parents[1])
            os.execv(sys.executable, [sys.executable, *words])
        _started_now(self._pid)

    def _read(self) -> str:
        try:
            return os.read(self._descriptor, 4096).decode(errors="replace")
        except OSError:  # it has ended
            return ""

    def until(self, word: str) -> str:
        """What it says up to this word, from here on."""
        text = ""
        while word not in text:
            read = self._read()
            assert read, f"{word!r} was never said; {text}"
            text += read
        return text

    def rest(self) -> str:
        """What it says until it ends."""
        return "".join(iter(self._read, ""))

    def type(self, text: str) -> None:
        os.write(self._descriptor, text.encode())

    def throw_away(self, text: str) -> None:
        """Types a line and Ctrl-C. Python's readline does not see a signal that comes before it waits for the next key:
        then one presses again."""
        self.type(text)
        self.until(text)
        self.type("\x03")
        while not select.select([self._descriptor], [], [], 5)[0]:
            self.type("\x03")
        self.until("tdbg> ")

    def status(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])


@pytest.mark.parametrize("then", ["run", "exit"])
def test_ctrl_c_holds_the_program_where_it_is(tmp_path: Path, then: str) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    terminal = Terminal(tmp_path, *RUN, "--break", "nan > 0", "train.py")
    terminal.until("ready")
    terminal.type("\x03")
    shown = terminal.until("tdbg> ")
    assert "interrupted, step 0; run continues, exit ends the program" in shown
    assert "train.py:" in shown
    (tmp_path / "stop").touch()
    terminal.type(f"{then}\n")
    shown = terminal.rest()
    assert ("ended" in shown) == (then == "run")
    assert "Traceback" not in shown
    assert terminal.status() == (0 if then == "run" else 1)


def test_without_conditions_ctrl_c_is_the_programs(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    terminal = Terminal(tmp_path, *RUN, "train.py")
    terminal.until("ready")
    terminal.type("\x03")
    assert "KeyboardInterrupt" in terminal.rest()
    assert terminal.status() == -2


BREAKPOINT = """\
import os
import tdbg
import tensorflow as tf

@tf.function
def grown(x):
    if first:
        tdbg.breakpoint()
    return tf.math.sin(x) + 1.0

first = FUNCTION
x, rounds = tf.constant(1.0), 0
if first:
    x = grown(x)
else:
    tdbg.breakpoint()
while not os.path.exists("stop"):
    x = tf.math.sin(x) + 1.0
    rounds += 1
    if rounds == 20:
        print("ready", flush=True)
print("ended", flush=True)
"""


@pytest.mark.parametrize("where", ["in eager code", "in a function"])
def test_ctrl_c_holds_a_program_that_has_reached_a_breakpoint(tmp_path: Path, where: str) -> None:
    (tmp_path / "train.py").write_text(BREAKPOINT.replace("FUNCTION", str(where == "in a function")))
    terminal = Terminal(tmp_path, *RUN, "train.py")
    assert "breakpoint: train.py:" in terminal.until("tdbg> ")
    terminal.type("run\n")
    terminal.until("ready")
    terminal.type("\x03")
    assert "interrupted, step 0" in terminal.until("tdbg> ")
    (tmp_path / "stop").touch()
    terminal.type("run\n")
    assert "ended" in terminal.rest()
    assert terminal.status() == 0


def test_at_the_end_of_input_ctrl_c_is_the_programs_again(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(BREAKPOINT.replace("FUNCTION", "False"))
    terminal = Terminal(tmp_path, *RUN, "train.py")
    terminal.until("tdbg> ")
    terminal.type("\x04")
    terminal.until("ready")
    terminal.type("\x03")
    assert "KeyboardInterrupt" in terminal.rest()
    assert terminal.status() == -signal.SIGINT


SESSION = """\
import os
import tensorflow.compat.v1 as tf
from tdbg.tensorflow import debug

tf.disable_eager_execution()
x = tf.placeholder(tf.float32, name="x")
y = tf.sin(x) + 1.0
WRAP
rounds = 0
with session:
    while not os.path.exists("stop"):
        session.run(y, {x: 1.0})
        rounds += 1
        if rounds == ROUNDS:
            print("ready", flush=True)
print("ended", flush=True)
"""
WRAPPED = {
    "wrapper": 'session = debug.LocalCLIDebugWrapperSession(tf.Session(), ui_type="readline")',
    "hook": 'session = tf.train.MonitoredSession(hooks=[debug.LocalCLIDebugHook(ui_type="readline")])',
}


@pytest.mark.parametrize("wrapped", WRAPPED)
@pytest.mark.parametrize("command", ["run -t 1000000000", "run -f has_inf_or_nan"])
def test_ctrl_c_while_runs_go_on_holds_the_next(tmp_path: Path, wrapped: str, command: str) -> None:
    (tmp_path / "train.py").write_text(SESSION.replace("WRAP", WRAPPED[wrapped]).replace("ROUNDS", "5"))
    terminal = Terminal(tmp_path, "train.py")
    assert "run-start: run #1" in terminal.until("tdbg> ")
    terminal.type(f"{command}\n")
    terminal.until("ready")
    terminal.type("\x03")
    shown = terminal.until("tdbg> ")
    assert "the program will be held before its next run; Ctrl-C again interrupts it" in shown
    assert "run-start: run #" in shown and "run-start: run #1:" not in shown
    terminal.throw_away("half a line")
    (tmp_path / "stop").touch()
    terminal.type("run -n\n")
    assert "ended" in terminal.rest()
    assert terminal.status() == 0


def test_ctrl_c_twice_is_the_programs_where_no_run_comes(tmp_path: Path) -> None:
    program = SESSION.replace("WRAP", WRAPPED["wrapper"]).replace("ROUNDS", "0")
    program = program.replace(
        "while not os", 'session.run(y, {x: 1.0})\n    print("ready", flush=True)\n    while not os'
    )
    program = program.replace("        session.run(y, {x: 1.0})\n        rounds", "        rounds")
    (tmp_path / "train.py").write_text(program)
    terminal = Terminal(tmp_path, "train.py")
    terminal.until("tdbg> ")
    terminal.type("run -n\n")
    terminal.until("ready")
    terminal.type("\x03")
    terminal.until("Ctrl-C again interrupts it")
    terminal.type("\x03")
    assert "KeyboardInterrupt" in terminal.rest()
    assert terminal.status() == -signal.SIGINT


def without_a_terminal(folder: Path, program: str, *words: str) -> subprocess.Popen[str]:
    (folder / "train.py").write_text(program)
    environment = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3", "TDBG_STATE": str(folder)}
    pipe = subprocess.PIPE
    words = (sys.executable, *RUN, *words, "train.py")
    process = subprocess.Popen(
        words, cwd=folder, env=environment, text=True, stdin=pipe, stdout=pipe, stderr=pipe, start_new_session=True
    )
    _started_now(process.pid)
    return process


def said(stream: IO[str] | None, word: str) -> str:
    assert stream is not None
    text = ""
    while word not in text:
        read = stream.readline()
        assert read, f"{word!r} was never said; {text}"
        text += read
    return text


def rest_of(process: subprocess.Popen[str]) -> tuple[str, str]:
    assert process.stdout is not None and process.stderr is not None
    with process:  # waits for it, and closes the pipes
        return process.stdout.read(), process.stderr.read()


@pytest.mark.parametrize("then", ["run", "exit"])
def test_a_signal_holds_a_program_without_a_terminal(tmp_path: Path, then: str) -> None:
    process = without_a_terminal(tmp_path, TRAIN, "--hold-on", "USR1")
    assert process.stdin is not None
    said(process.stdout, "ready")
    process.send_signal(signal.SIGUSR1)
    shown = said(process.stdout, "train.py:")  # the place
    assert "interrupted, step 0; run continues, exit ends the program" in shown
    (tmp_path / "stop").touch()
    process.stdin.write(f"{then}\n")
    process.stdin.flush()
    rest, errors = rest_of(process)
    assert f"tdbg: kill -USR1 {process.pid} holds this program" in errors
    assert "Traceback" not in errors
    assert ("ended" in rest) == (then == "run")
    assert process.returncode == (0 if then == "run" else 1)


def test_at_the_end_of_input_the_signal_does_no_harm(tmp_path: Path) -> None:
    process = without_a_terminal(tmp_path, TRAIN, "--hold-on", "USR2")
    assert process.stdin is not None
    process.stdin.close()
    process.stdin = None
    said(process.stdout, "ready")
    for _ in range(2):
        process.send_signal(signal.SIGUSR2)
        said(process.stderr, "without the debugger")
        (tmp_path / "ask").touch()
        said(process.stdout, "going on")  # while the program is held, another signal is passed over
    (tmp_path / "stop").touch()
    assert "ended" in rest_of(process)[0]
    assert process.returncode == 0


def test_a_signal_that_the_program_uses_is_its_own(tmp_path: Path) -> None:
    own = "import signal\nsignal.signal(signal.SIGUSR1, lambda *given: print('own', flush=True))\n"
    process = without_a_terminal(tmp_path, own + TRAIN, "--hold-on", "USR1")
    said(process.stdout, "ready")
    process.send_signal(signal.SIGUSR1)
    said(process.stdout, "own")
    (tmp_path / "stop").touch()
    rest, _ = rest_of(process)
    assert "ended" in rest and "interrupted" not in rest
    assert process.returncode == 0


def test_the_signal_is_as_before_when_the_recording_ends(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    tdbg.enable(tmp_path / "one.tdbg", hold_on="USR1")
    assert signal.getsignal(signal.SIGUSR1) is not signal.SIG_DFL
    tdbg.disable()
    assert signal.getsignal(signal.SIGUSR1) is signal.SIG_DFL
    with pytest.raises(tdbg.TdbgError, match="unknown signal 'KILL' for hold_on; choose one of: USR1, USR2"):
        tdbg.enable(tmp_path / "two.tdbg", hold_on="KILL")
