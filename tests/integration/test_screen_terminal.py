"""The screen on a real terminal: a recorded trace, held programs, and everything that can happen to a terminal."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from tmux_terminal import PATIENCE, SOURCE, TmuxTerminal, need_tmux

EXAMPLE = Path(__file__).parents[2] / "examples" / "keras_fit.py"

# A step of a tf.function whose Python function holds it, on a thread of TensorFlow; another thread prints meanwhile.
HELD = """
import ctypes, os, pathlib, signal, sys, threading, time
import tensorflow as tf
from tdbg.capture.control import Pause, prompt
from tdbg.query.scene.trace_scene import TraceScene

if "ignores" in sys.argv:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

def chatter():
    while not os.path.exists("/proc/self/fd/1") or os.isatty(1):
        time.sleep(0.01)  # until the screen is up
    for n in range(3):
        print("python", n, flush=True)
        ctypes.CDLL(None).write(1, b"C %d\\n" % n, 4)
        os.write(2, b"error %d\\n" % n)

def hold(x):
    where = "the main thread" if threading.current_thread() is threading.main_thread() else "another thread"
    pause = Pause("breakpoint", f"held on {where}", TraceScene("modèle.tdbg"), "lt")
    print("before")
    threading.Thread(target=chatter).start()
    action = prompt("screen").ask(pause)
    pathlib.Path("action.txt").write_text(action.kind)
    return x

@tf.function
def step(x):
    return tf.numpy_function(hold, [x], tf.float32) * 2

pathlib.Path("pid.txt").write_text(str(os.getpid()))
print("result", float(step(tf.constant(3.0))))
"""

# A screen with a fault in it.
BROKEN = """
from tdbg.capture.control import Pause, prompt
from tdbg.query.scene.trace_scene import TraceScene
from tdbg.shell.screen.app import ScreenApp

ScreenApp.on_mount = lambda self: 1 / 0
action = prompt("screen").ask(Pause("breakpoint", "held", TraceScene("modèle.tdbg"), "version"))
print("then", action.kind)
"""

# Trains until it is told to end.
LIVE = """
import os, time
import tensorflow as tf

until = time.time() + 120
while not os.path.exists("end") and time.time() < until:
    tf.math.log(tf.constant([1.0, 2.0])) * 3
    time.sleep(0.05)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """With a trace of a program whose name is not ASCII."""
    need_tmux()
    pytest.importorskip("tensorflow")
    folder = tmp_path_factory.mktemp("terminal")
    shutil.copy(EXAMPLE, folder / "modèle_训练.py")
    for name, program in {"held.py": HELD, "broken.py": BROKEN, "live.py": LIVE}.items():
        (folder / name).write_text(program)
    words = ["-m", "tdbg", "run", "--mode", "full", "-o", "modèle.tdbg", "modèle_训练.py"]
    environment = os.environ | {"PYTHONPATH": SOURCE, "TF_CPP_MIN_LOG_LEVEL": "3"}
    subprocess.run([sys.executable, *words], cwd=folder, env=environment, check=True, capture_output=True, timeout=240)
    return folder


def test_looking_around_in_a_trace(folder):
    with TmuxTerminal(folder) as terminal:
        terminal.type("python -m tdbg shell modèle.tdbg")
        terminal.wait_for("modèle.tdbg · step 0", "dumped tensor(s)", "F3 explains why", "Cast/input:0")
        assert terminal.fact("alternate_on") == "1"

        terminal.type("lt -f has_inf_or_nan")
        terminal.wait_for('passing filter "has_inf_or_nan"', "nan ×")
        terminal.click("poisson_loss/Log:0")
        terminal.wait_for('Tensor "compile_loss/poisson_loss/Log:0', "float32", "Histogram", "node_info")
        terminal.type("/nan")
        terminal.wait_for("/nan 1 of ")
        terminal.type("/")
        terminal.wait_for("/nan 2 of ")
        terminal.click("node_info")
        terminal.wait_for("Node compile_loss/poisson_loss/Log")
        terminal.keys("M-Left")
        terminal.wait_for('Tensor "compile_loss/poisson_loss/Log:0', "3 of 4")
        terminal.click("◀")
        terminal.wait_for('passing filter "has_inf_or_nan"', "2 of 4")
        terminal.keys("M-Right")
        terminal.wait_for('Tensor "compile_loss/poisson_loss/Log:0', "3 of 4")

        terminal.keys("ni compile_loss/poisson_loss/L", "Tab")
        terminal.wait_for("tdbg> ni compile_loss/poisson_loss/Log ")
        terminal.keys("C-c")
        terminal.wait_for("tab completes", gone="tdbg> ni")
        terminal.keys("lt", "Up")
        terminal.wait_for("tdbg> lt -f has_inf_or_nan")
        terminal.keys("C-c")
        terminal.keys("why", "Tab")  # a word that is whole
        terminal.wait_for("tdbg> why ")
        terminal.keys("Enter")
        terminal.wait_for("log of a negative number", "modèle_训练.py:13")

        terminal.resize(60, 15)
        terminal.wait_until(lambda text: len(text.rstrip("\n").split("\n")) == 15 and "^Q quit" in text, "60×15")
        terminal.type("ls")
        terminal.wait_for("训练.py", "── ls ")
        terminal.resize(120, 40)
        terminal.wait_for("PgDn scroll", "── ls ")

        assert terminal.fact("mouse_any_flag") == "1"
        terminal.type("mouse off")
        terminal.wait_for("mouse mode is off")
        terminal.wait_until(lambda _: terminal.fact("mouse_any_flag") == "0", "no mouse")
        terminal.type("mouse on")
        terminal.wait_until(lambda _: terminal.fact("mouse_any_flag") == "1", "the mouse")
        terminal.keys("C-c")
        terminal.wait_for("Ctrl-Q or exit leaves")
        terminal.keys("C-q")
        sane(terminal)

        terminal.type("TERM=dumb python -m tdbg shell modèle.tdbg")
        terminal.wait_for("exit to leave", "tdbg>")
        assert terminal.fact("alternate_on") == "0"
        terminal.type("version")
        terminal.wait_for("tdbg 0.")
        terminal.type("exit")


def test_ctrl_z_stops_the_program_and_fg_goes_on(folder):
    with TmuxTerminal(folder) as terminal:
        terminal.type("exec bash --norc -i")
        terminal.type("python -m tdbg shell modèle.tdbg")
        terminal.wait_for("dumped tensor(s)")
        terminal.keys("C-z")
        terminal.wait_for("Stopped", gone="tdbg>")
        sane(terminal)
        terminal.type("fg")
        terminal.wait_for("dumped tensor(s)", "tdbg>")
        terminal.type("version")
        terminal.wait_for("── version")
        terminal.keys("C-q")
        sane(terminal)


def test_a_program_that_is_held_on_a_thread_of_tensorflow_and_prints(folder):
    with TmuxTerminal(folder) as terminal:
        terminal.type("clear; python held.py; echo status $?")
        terminal.wait_for("held on another thread", "dumped tensor(s)", "the program printed")
        terminal.wait_for("printed 63 bytes")
        terminal.keys("F4")
        terminal.wait_for("python 2", "C 2", "error 2")
        terminal.keys("Escape")
        terminal.wait_for("dumped tensor(s)")
        terminal.type("pt nothing_like_it")
        terminal.wait_for("ERROR: no ", "nothing_like_it")
        terminal.keys("C-c")
        terminal.wait_for("[r] run on")
        terminal.keys("Escape")
        terminal.wait_for("tdbg>", gone="[r] run on")
        terminal.type("run")
        text = terminal.wait_for("status 0")
        printed = [f"{who} {n}" for n in range(3) for who in ("python", "C", "error")]
        said = [line for line in text.split("\n") if line][:-1]  # the last is the next prompt
        assert said[said.index("before") :] == ["before", *printed, "result 6.0", "status 0"]  # TensorFlow may say more
        assert (folder / "action.txt").read_text() == "run"
        sane(terminal)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGSEGV"])
def test_a_signal_that_ends_the_program_leaves_a_terminal_that_works(folder, name):
    with TmuxTerminal(folder) as terminal:
        terminal.type("clear; python held.py; echo status $?")
        terminal.wait_for("printed 63 bytes")
        os.kill(int((folder / "pid.txt").read_text()), getattr(signal, name))
        text = terminal.wait_for(f"status {128 + getattr(signal, name)}")
        assert "error 2" in text
        assert "tdbg>" not in text
        assert terminal.fact("alternate_on") == "0"
        assert terminal.fact("mouse_any_flag") == "0"
        sane(terminal)


@pytest.mark.parametrize("ignores", [True, False])
def test_a_terminal_that_is_closed(folder, ignores):
    """The program is hung up on, as it is without tdbg; one that ignores it continues without the debugger."""
    (folder / "action.txt").unlink(missing_ok=True)
    with TmuxTerminal(folder) as terminal:
        terminal.type(f"exec python held.py {'ignores' * ignores}")
        terminal.wait_for("printed 63 bytes")
    pid = int((folder / "pid.txt").read_text())
    until = time.monotonic() + PATIENCE
    while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{pid}").exists()
    assert (folder / "action.txt").exists() == ignores
    if ignores:
        assert (folder / "action.txt").read_text() == "detach"


def test_a_fault_of_the_screen_is_a_line_and_the_prompt_goes_on_in_lines(folder):
    with TmuxTerminal(folder) as terminal:
        terminal.type("clear; python broken.py; echo status $?")
        terminal.wait_for("tdbg failed while showing the screen (ZeroDivisionError", "held", "tdbg>")
        assert "Traceback" not in terminal.text()
        terminal.type("run")
        terminal.wait_for("then run", "status 0")
        sane(terminal)


def test_a_trace_that_grows(folder):
    with TmuxTerminal(folder) as terminal:
        terminal.type("clear; python -m tdbg run -o live.tdbg live.py > said.txt 2>&1 &")
        terminal.wait_until(lambda _: any(folder.glob("live.tdbg/*/*tensors*")), "a trace")
        terminal.type("python -m tdbg shell live.tdbg")
        terminal.wait_for("dumped tensor(s)", "Log")
        terminal.wait_for("new · F5")
        before = count_of(terminal)
        terminal.keys("F5")
        terminal.wait_until(lambda _: count_of(terminal) > before, "more")
        (folder / "end").touch()
        terminal.keys("C-q")
        sane(terminal)


def count_of(terminal: TmuxTerminal) -> int:
    """How many tensors the list says that there are."""
    line = next((line for line in terminal.lines() if "dumped tensor(s)" in line), "0")
    return int(line.split()[0].replace(",", ""))


def sane(terminal: TmuxTerminal) -> None:
    """The screen has gone; keys are echoed and lines are edited again."""
    terminal.wait_until(lambda _: terminal.fact("alternate_on") == "0", "the end of the screen")
    terminal.type("clear; stty -a | tr ' ;' '\\n\\n' | grep -xE -e '-?(echo|icanon|isig)' | sort | xargs echo now:")
    terminal.wait_for("now: echo icanon isig")
    terminal.type("clear")
